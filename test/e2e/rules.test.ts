import { existsSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createClient, watchApproval } from '../../src/library/svc.ts'
import { inputOf, letsRun } from '../hook-hosts.ts'
import { connectGate, countingServer } from './gate-client.ts'
import { callHook, installedLine } from './hook-line.ts'
import { call, overHttp } from './mcp-client.ts'
import { svcHere } from './prepare.ts'
import { startSvc, type Ended } from './processes.ts'
import { onTerminal } from './terminal.ts'
import {
  ada,
  api,
  deploy,
  env,
  grace,
  hold,
  installHooks,
  keyFor,
  nobody,
  path,
  service,
  shells,
  started,
  texts,
  tools,
} from './two-people.ts'

// Each edge against a rule of the organization. Nobody is named: Ada is asked because of the rule.

installHooks()

describe('svc approve request', () => {
  test('asks whom the rule asks, and says why', async () => {
    const before = await svcHere(['approve', 'request', deploy], env)
    expect([before.exit, before.stderr]).toEqual([2, expect.stringContaining('--to must name somebody')])
    await nobody()
    const rule = await hold(texts)
    const [{ exit, stderr }] = await Promise.all([svcHere(['approve', 'request', deploy], env), ada.answer()])
    expect([exit, stderr]).toEqual([0, expect.stringContaining(`because of rule ${rule}: ${deploy}`)])
  })

  test('asks the person at a terminal for the phone if no rule asks anybody, and for the reason of a rule', async () => {
    await hold(texts, { reason: { prompt: 'Incident', pattern: 'INC-*', example: 'INC-77' } })
    const request = ['approve', 'request']
    const [named] = await Promise.all([
      onTerminal([...request, 'Restart'], env, [
        [/must name somebody[^]*Who must approve/, `${ada.mobile}\r`],
      ]),
      ada.answer(),
    ])
    expect([named.exit, named.screen]).toEqual([0, expect.stringContaining('Approved by')])
    const [why] = await Promise.all([
      onTerminal([...request, deploy], env, [[/--reason is required[^]*Incident[^]*INC-77/, 'INC-8\r']]),
      ada.answer(),
    ])
    expect([why.exit, why.screen]).toEqual([0, expect.stringContaining('Approved by')])
    const { stderr } = await svcHere([...request, deploy], env)
    expect(stderr).toContain("hint: Say why: --reason 'INC-77'")
    await nobody()
  })
})

const running = (name: string) => ['approve', 'run', '--', '/bin/sh', '-c', `: > ${path(name)}`]

describe('svc approve run', () => {
  test('runs the command once the person of the rule agrees, and not without', async () => {
    expect((await started(running('early'))).exit).toBe(102)
    await nobody()
    await hold(shells)
    const [denied] = await Promise.all([started(running('denied')), ada.answer({ decision: 'deny' })])
    const [agreed] = await Promise.all([started(running('ran')), ada.answer()])
    expect([denied.exit, agreed.exit]).toEqual([106, 0])
    expect(['early', 'denied', 'ran'].map((name) => existsSync(path(name)))).toEqual([false, false, true])
  })

  test('runs nothing if a rule is added while people decide', async () => {
    await hold(shells)
    const ended = started(running('changed'))
    await ada.waitForRequest()
    const added = await hold({ type: 'command' })
    await ada.answer()
    const { exit, stderr } = await ended
    expect(exit).toBe(103)
    expect(stderr).toContain(`The rule ${added} was added or changed since this was approved`)
    expect(existsSync(path('changed'))).toBe(false)
  })

  test('needs the person who is named besides, and the person of the rule', async () => {
    await hold(shells)
    const ended = started(running('both').toSpliced(2, 0, '--to', grace.mobile))
    const id = await ada.answer()
    const { status } = (await api.call('GET', `/svc/v1/approvals/${id}`)).body.data
    expect([status, existsSync(path('both'))]).toEqual(['pending', false])
    await api.call('POST', `/svc/v1/approvals/${id}/withdraw`)
    expect((await ended).exit).toBe(107)
  })
})

test('a hook needs no --to, and lets a call run once the person of the rule agrees', async () => {
  const flags = ['--timeout', '60', '--base-url', service.baseUrl, '--key-file', path('ask.key')]
  const line = await installedLine('claude', [...flags, '--org', ada.org.slug], env)
  const use = (): Promise<Ended> =>
    callHook(line, JSON.stringify(inputOf('claude', 'touch /tmp/ran')), { HOME: env['HOME']! }).ended
  const before = await use()
  expect([letsRun('claude', before), before.stderr + before.stdout]).toEqual([
    false,
    expect.stringContaining('--to must name somebody'),
  ])
  await nobody()
  await hold(tools)
  const [allowed] = await Promise.all([use(), ada.answer()])
  expect(letsRun('claude', allowed)).toBe(true)
  const [blocked] = await Promise.all([use(), ada.answer({ decision: 'deny' })])
  expect(letsRun('claude', blocked)).toBe(false)
})

test('the gate needs no `to`, and gives the reason that a rule requires', async () => {
  writeFileSync(path('gate.yaml'), 'server: files\nreason: INC-7\n')
  const flags = ['--base-url', service.baseUrl, '--key-file', path('ask.key')]
  const served = ['--', process.execPath, countingServer]
  const args = ['mcp', 'gate', '--rules', path('gate.yaml'), '--env', 'LEDGER', ...flags, ...served]
  const gate = await connectGate(
    startSvc(args, { SVC_CONFIG_DIR: path('gate'), LEDGER: path('ledger') }),
    path('ledger'),
  )
  gate.call(1, 'write_file', { path: '/srv/a', text: 'one' })
  expect(JSON.stringify(await gate.answer(1))).toContain(': to in the file of the gate must name somebody')
  await nobody()
  await hold(tools, { reason: { pattern: 'INC-*', example: 'INC-77' } })
  gate.call(2, 'write_file', { path: '/srv/a', text: 'one' })
  await ada.waitForRequest()
  expect(gate.done()).toEqual([])
  await ada.answer()
  expect((await gate.answer(2)).result.content).toEqual([{ type: 'text', text: 'written' }])
  await gate.close()
})

test('the library asks whom the rule asks, and refuses a use after another rule was added', async () => {
  const client = createClient({ baseUrl: service.baseUrl, apiKey: env['SVC_API_KEY']! })
  const options = { wanted: { action: deploy }, approvers: [], expected: { allowDev: true } }
  const asking = { action: deploy, org_id: ada.org.id }
  await expect(client.createApproval(asking)).rejects.toMatchObject({
    code: 'invalid_field',
    issues: [{ field: 'approvers' }],
  })
  const named = await client.createApproval({ ...asking, approvers: [ada.mobile] })
  await ada.answer()
  await expect(watchApproval(client, named.request_id, options)).rejects.toMatchObject({
    code: 'receipt_not_valid',
    detail: expect.stringContaining('every line must be of a rule'),
  })
  const rule = await hold(texts)
  const { request_id } = await client.createApproval(asking)
  await ada.answer()
  const watched = await watchApproval(client, request_id, {
    ...options,
    expected: { ...options.expected, rule: { name: rule } },
  })
  expect(watched).toMatchObject({ status: 'approved', request: { rules: [rule] } })
  await hold({ type: 'text' })
  const digest = 'digest' in watched ? watched.digest : ''
  await expect(client.consumeApproval({ request_id, digest })).rejects.toMatchObject({
    code: 'rules_changed',
  })
  await client.close()
})

test('the tools of /mcp ask whom the rule asks', async () => {
  const client = await overHttp('legacy', new URL('/mcp', service.baseUrl).href, env['SVC_API_KEY'])
  const ask = { action: deploy }
  const before = await call(client, 'request_approval', { ...ask, timeout_s: 20 })
  expect([before.isError, before.text]).toEqual([true, expect.stringContaining('pass it as approver_mobile')])
  await nobody()
  await hold(texts)
  const [{ result }] = await Promise.all([
    call(client, 'request_approval', { ...ask, timeout_s: 20 }),
    ada.answer(),
  ])
  expect(result).toMatchObject({ status: 'approved' })
  await client.close()
})

test('names what a person leaves before they are deleted', async () => {
  await hold(texts)
  const people = { ...env, SVC_API_KEY: await keyFor(['people', 'read', 'keys']) }
  const owned = { name: 'bot', org_id: ada.org.id, scopes: ['read'], owner_user_id: ada.id }
  const { id } = (await api.call('POST', '/svc/v1/keys', { body: owned })).body.data
  const remove = `svc user remove ${ada.id} --org ${ada.org.slug}`
  const { exit, screen } = await onTerminal(['user', 'delete', String(ada.id)], people, [
    [/Continue\?/, '\r'],
  ])
  expect([exit, screen]).toEqual([1, expect.stringMatching(/^ {2}In the group @\S+\r?$/m)])
  expect(screen).toContain(`  Ends the keys that they own: bot (${id})`)
  expect(screen).toContain(remove)
})

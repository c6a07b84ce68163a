import { existsSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { inputOf, letsRun } from '../hook-hosts.ts'
import { decide, show } from '../service/approver.ts'
import { connectGate, countingServer } from './gate-client.ts'
import { callHook, installedLine } from './hook-line.ts'
import { outcome, startSvc, type Ended } from './processes.ts'
import { watch } from './terminal.ts'
import { ada, api, env, grace, installHooks, path, service } from './two-people.ts'

// At each edge, two people must agree: one yes is not enough.

installHooks()

const both = () => ['--to', ada.mobile, '--to', grace.mobile]
const adds = (decision: 'approve' | 'deny', id: string) => decide(api, id, grace.key, { decision })
const stateOf = async (id: string) => (await show(api, id)).body.data
const oneOfTwo = { status: 'pending', detail: expect.stringMatching(/^1 of 2 approved; waiting for /) }
const started = (args: string[]) => {
  const child = startSvc(args, env)
  return { child, output: watch(child), ended: outcome(child) }
}
const running = (file: string) => ['--', '/bin/sh', '-c', `: > ${path(file)}`]

test('svc approve run starts the command after the second yes, and says who is waited for', async () => {
  const { child, output, ended } = started(['approve', 'run', ...both(), ...running('ran')])
  const id = await ada.answer()
  await output.until(() => output.written().includes('1 of 2 approved'))
  expect(output.written()).not.toContain(grace.mobile)
  expect(await stateOf(id)).toMatchObject(oneOfTwo)
  expect([child.exitCode, existsSync(path('ran'))]).toEqual([null, false])
  await adds('approve', id)
  expect(await ended).toMatchObject({ exit: 0, stderr: expect.stringContaining(' and ') })
  expect(existsSync(path('ran'))).toBe(true)
})

test('svc approve run does nothing if the second person denies', async () => {
  const { ended } = started(['approve', 'run', ...both(), ...running('denied')])
  await adds('deny', await ada.answer())
  expect((await ended).exit).toBe(106)
  expect(existsSync(path('denied'))).toBe(false)
})

test('svc approve request asks one of several people, or as many as it says', async () => {
  const line = `${ada.mobile},${grace.mobile}`
  const anyone = started(['approve', 'request', 'Deploy', '--to', line, '-o', 'json'])
  await ada.answer()
  expect(JSON.parse((await anyone.ended).stdout)).toMatchObject({
    status: 'approved',
    attestation: { format: 'set', receipts: [{}] },
  })
  const everybody = started(['approve', 'request', 'Deploy', '--to', `${line}:2`, '-o', 'json'])
  const id = await ada.answer()
  expect(await stateOf(id)).toMatchObject(oneOfTwo)
  await adds('approve', id)
  expect(JSON.parse((await everybody.ended).stdout).attestation.receipts).toHaveLength(2)
})

test('svc approve request takes several people from SVC_DEFAULT_MOBILE', async () => {
  env['SVC_DEFAULT_MOBILE'] = `${ada.mobile} ${grace.mobile}`
  const { ended } = started(['approve', 'request', 'Deploy', '-o', 'json'])
  await adds('approve', await ada.answer())
  expect(JSON.parse((await ended).stdout).lines).toHaveLength(2)
})

test('a hook lets a call run after the second yes, and blocks it after a denial', async () => {
  const flags = ['--timeout', '60', '--base-url', service.baseUrl, '--key-file', path('ask.key')]
  const line = await installedLine('claude', [...both(), ...flags, '--org', ada.org.slug], env)
  const call = (): Promise<Ended> =>
    callHook(line, JSON.stringify(inputOf('claude', 'touch /tmp/ran')), { HOME: env['HOME']! }).ended
  const allowed = call()
  const id = await ada.answer()
  expect(await stateOf(id)).toMatchObject(oneOfTwo)
  await adds('approve', id)
  expect(letsRun('claude', await allowed)).toBe(true)
  const blocked = call()
  await adds('deny', await ada.answer())
  expect(letsRun('claude', await blocked)).toBe(false)
})

test('the gate forwards a call after the second yes', async () => {
  writeFileSync(path('gate.yaml'), `server: files\nto: ["${ada.mobile}", "${grace.mobile}"]\n`)
  const flags = [
    '--rules',
    path('gate.yaml'),
    '--env',
    'LEDGER',
    '--base-url',
    service.baseUrl,
    '--key-file',
    path('ask.key'),
  ]
  const args = ['mcp', 'gate', ...flags, '--', process.execPath, countingServer]
  const gate = await connectGate(
    startSvc(args, { SVC_CONFIG_DIR: path('gate'), LEDGER: path('ledger') }),
    path('ledger'),
  )
  gate.call(1, 'write_file', { path: '/srv/a', text: 'one' })
  const id = await ada.answer()
  expect(await stateOf(id)).toMatchObject(oneOfTwo)
  expect(gate.done()).toEqual([])
  await adds('approve', id)
  expect((await gate.answer(1)).result.content).toEqual([{ type: 'text', text: 'written' }])
  await gate.close()
})

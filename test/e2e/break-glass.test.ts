import { writeFileSync, chmodSync } from 'node:fs'
import { expect, test } from 'vitest'
import { env, installHooks, key, ok, path, people, requestLine, service } from './approvals.ts'
import { outcome, startSvc, svc } from './processes.ts'
import { watch } from './terminal.ts'

// A signed-in person runs a command in an emergency. The key file plays the phone.

installHooks()

test('a signed-in person runs a command with the yes of one member of the emergency group', async () => {
  const others = ['2025559001', '2025559002']
  for (const [at, mobile] of others.entries()) {
    const name = ['--first-name', 'Bob', '--last-name', `Roe ${at}`, '--email', `bob${at}@acme.example`]
    await ok(['user', 'create', '--org', 'acme', ...name, '--country-code', '+1', '--mobile', mobile])
    const file = ['--software', '--file', path(`bob-${at}.json`)]
    await ok(['user', 'enroll', String(people + 1 + at), '--org', 'acme', ...file])
  }
  await ok(['group', 'create', 'dba', '--org', 'acme', '--members', `${people + 1},${people + 2}`])
  await ok(['group', 'create', 'oncall', '--org', 'acme', '--members', String(people)])
  const match = ['--type', 'command', '--argv', 'restore.sh', '--argv', '**']
  await ok([
    'rule',
    'create',
    'restore',
    '--org',
    'acme',
    ...match,
    '--who',
    '@dba',
    '--break-glass',
    '@oncall',
  ])
  writeFileSync(path('restore.sh'), '#!/bin/sh\necho "glass $SVC_APPROVAL_BREAK_GLASS"\n')
  chmodSync(path('restore.sh'), 0o755)
  const own = { SVC_CONFIG_DIR: path('of-ada'), SVC_DEFAULT_MOBILE: env.SVC_DEFAULT_MOBILE! }
  expect((await svc(['profile', 'login', 'mine', '--base-url', service.baseUrl, ...key()], own)).exit).toBe(0)
  const receipt = path('receipt.json')
  const asking = ['approve', 'run', '--profile', 'mine', '--break-glass', 'prod down', '--receipt', receipt]
  const running = startSvc([...asking, '--', path('restore.sh')], own)
  const [output, ended] = [watch(running), outcome(running)]
  await output.until(() => requestLine.test(output.written()))
  const id = requestLine.exec(output.written())![1]!
  await ok(['approve', 'inbox', ...key(), '--approve', id])
  const { exit, stdout, stderr } = await ended
  expect([exit, stdout]).toEqual([0, 'glass 1\n'])
  expect(stderr).toContain('Break-glass: 2 people whom the rules name are not asked')
  const verify = ['approve', 'verify', receipt, '--profile', 'mine', '--org', 'acme', '--allow-dev']
  const refused = await svc(verify, own)
  expect([refused.exit, refused.stderr]).toEqual([1, expect.stringContaining('--allow-break-glass')])
  const accepted = await svc([...verify, '--allow-break-glass'], own)
  expect([accepted.exit, accepted.stderr]).toEqual([0, expect.stringContaining('Valid, by break-glass')])
})

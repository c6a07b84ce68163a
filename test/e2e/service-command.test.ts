import { spawn } from 'node:child_process'
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDefault } from './default-start.ts'
import { bin, outcome } from './processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { onTerminal } from './terminal.ts'
import { svcHere } from './prepare.ts'

const home = temporaryFolder()
const env = {
  HOME: home.path,
  XDG_DATA_HOME: join(home.path, 'share'),
  SVC_CONFIG_DIR: join(home.path, 'config'),
}
const reset = ['service', 'reset-operator-key']

beforeAll(async () => {
  const service = await startDefault(home.path)
  service.kill('SIGTERM')
  await service.ended
})
afterAll(() => home.remove())

test('reset-operator-key requires --yes in a script', async () => {
  const dir = join(home.path, 'share', 'svc')
  expect(await svcHere(reset, env)).toMatchObject({
    exit: 2,
    stdout: '',
    stderr: expect.stringMatching(/--yes$/m),
  })
  const named = await svcHere([...reset, '--data-dir', dir], env)
  expect(named.stderr).toContain(`hint: svc service reset-operator-key --data-dir ${dir} --yes`)
  const { exit, stdout } = await svcHere([...reset, '--yes', '-o', 'json'], env)
  expect([exit, JSON.parse(stdout)]).toEqual([0, { key: expect.stringMatching(/^svc_op_/) }])
})

test('reset-operator-key asks on a terminal, and a no changes nothing', async () => {
  const no = await onTerminal(reset, env, [[/Continue\?/, 'n\r']])
  expect([no.exit, no.screen]).toEqual([1, expect.stringContaining('No key was revoked')])
  expect(no.screen).toContain(`in ${join(home.path, 'share', 'svc')}`)
  const yes = await onTerminal(reset, env, [[/Continue\?/, 'y\r']])
  expect([yes.exit, yes.screen]).toEqual([0, expect.stringContaining('svc_op_')])
  expect(yes.screen).toContain('Revoked 1 operator key and ended 0 pending requests.')
})

test('reset-operator-key leaves the profile with two working keys', async () => {
  const profile = async () =>
    JSON.parse((await svcHere(['profile', 'show', 'local', '--reveal', '-o', 'json'], env)).stdout)
  const before = await profile()
  expect(before).toMatchObject({
    api_key: expect.stringMatching(/^svc_op_/),
    ask_key: expect.stringMatching(/^svc_srv_/),
  })
  await svcHere([...reset, '--yes'], env)
  const after = await profile()
  expect([after.api_key === before.api_key, after.ask_key]).toEqual([false, before.ask_key])
  const service = await startDefault(home.path)
  try {
    const { exit, stdout } = await svcHere(['whoami', '-o', 'json'], env)
    expect([exit, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({ kind: 'operator', ask_key_name: 'local', ask_key_scopes: ['ask'] }),
    ])
  } finally {
    service.kill('SIGTERM')
    await service.ended
  }
})

test('reset-operator-key does not ask while the service runs', async () => {
  const service = await startDefault(home.path)
  try {
    const refused = await onTerminal(reset, env, [])
    expect([refused.exit, refused.screen]).toEqual([1, expect.stringContaining('is in use by process')])
  } finally {
    service.kill('SIGTERM')
    await service.ended
  }
})

test('reset-operator-key does not ask if there is no store', async () => {
  const missing = await onTerminal([...reset, '--data-dir', join(home.path, 'none')], env, [])
  expect([missing.exit, missing.screen]).toEqual([5, expect.stringContaining('No store')])
})

test('svc serve reports a full disk, and what to do', async () => {
  const child = spawn(
    'sh',
    ['-c', `ulimit -f 8; exec '${process.execPath}' '${bin}' serve --port 0 --data-dir '${home.path}/small'`],
    { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const { exit, stderr } = await outcome(child)
  expect([exit, stderr]).toEqual([1, expect.stringMatching(/svc\.db cannot be opened or written[^]*hint: /)])
  rmSync(join(home.path, 'small'), { recursive: true, force: true })
})

test('rotate-signing-key works while the service runs', async () => {
  const service = await startDefault(home.path)
  try {
    const { exit, stdout } = await svcHere(['service', 'rotate-signing-key', '-o', 'json'], env)
    expect([exit, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({ rotated: true, retired: [expect.any(String)] }),
    ])
  } finally {
    service.kill('SIGTERM')
    await service.ended
  }
})

test('rotate-master-key reads the new key from standard input if the environment holds the old one', async () => {
  const dataDir = join(home.path, 'by-environment')
  cpSync(join(home.path, 'share', 'svc'), dataDir, { recursive: true })
  const SVC_MASTER_KEY = readFileSync(join(dataDir, 'master.key'), 'utf8').trim()
  rmSync(join(dataDir, 'master.key'))
  const rotate = ['service', 'rotate-master-key', '--data-dir', dataDir]
  const missing = await svcHere(rotate, { ...env, SVC_MASTER_KEY })
  expect([missing.exit, missing.stderr]).toEqual([2, expect.stringContaining('--new-key-file')])
  const given = 'ab'.repeat(32)
  const from = [...rotate, '--new-key-file', '-']
  const done = await svcHere(from, { ...env, SVC_MASTER_KEY }, given)
  expect([done.exit, done.stderr]).toEqual([0, expect.stringContaining('Set SVC_MASTER_KEY to the new key')])
  expect(done.stdout + done.stderr).not.toContain(given)
  const again = await svcHere([...from, '-o', 'json'], { ...env, SVC_MASTER_KEY }, given)
  expect([again.exit, JSON.parse(again.stdout)]).toMatchObject([0, { state: 'unchanged' }])
  const reset = await svcHere(['service', 'reset-operator-key', '--yes', '--data-dir', dataDir], {
    ...env,
    SVC_MASTER_KEY: given,
  })
  expect(reset.exit).toBe(0)
})

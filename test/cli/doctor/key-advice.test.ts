import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startService, type RunningService } from '../../../src/service/lifecycle/serve.ts'
import { commandWords } from '../../command-words.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { svc } from '../svc.ts'

// Every command that `svc doctor` prints about keys is run as it is printed; --yes answers the question.

let dir: string
let remove: () => void
let service: RunningService
beforeEach(async () => {
  ;({ path: dir, remove } = temporaryFolder())
  const at = { host: '127.0.0.1', port: 0, dataDir: join(dir, 'data'), env: {}, log: () => undefined }
  service = await startService(at)
  await run('org create --name Acme --slug acme')
  await run(
    'user create --org acme --first-name A --last-name B --email a@b.example --country-code +1 --mobile 2025550101',
  )
})
afterEach(async () => {
  await service.stop()
  remove()
})

type Env = Record<string, string>
const day = 86_400_000
const run = (line: string, env: Env = {}, days = 0) =>
  svc(line, {
    env: { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: service.operatorKey!, SVC_CONFIG_DIR: dir, ...env },
    now: () => new Date(Date.now() + days * day),
  })
const make = async (line: string, env: Env = {}): Promise<{ id: string; key: string }> =>
  (await run(`${line} -o json`, env)).data()
const findings = async (env: Env = {}, days = 0) => {
  const all = (await run('doctor -o json', env, days)).data() as {
    check: string
    message: string
    next: string | null
  }[]
  return all.filter(({ check }) => check === 'keys')
}

/** Runs the advice about keys until there is none, at most ten times. Returns the commands. */
const follow = async (env: Env = {}, days = 0): Promise<string[]> => {
  const ran: string[] = []
  for (let n = 0; n < 10; n++) {
    const next = (await findings(env, days)).find(
      (one) => one.next?.startsWith('svc ') && !ran.includes(one.next),
    )?.next
    if (next == null) return ran
    ran.push(next)
    const words = commandWords(next.slice(4))
    const { exit, err } = await svc([...words, ...(words[1] === 'revoke' ? ['--yes'] : [])], {
      env: { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: service.operatorKey!, SVC_CONFIG_DIR: dir, ...env },
      now: () => new Date(),
    })
    expect([next, exit, err]).toEqual([next, 0, expect.any(String)])
  }
  return ran
}

test('about operator keys, every scope, replaced and expiring keys works as it is printed', async () => {
  await make('key create --name second --can all')
  await make('key create --name all --org acme --can all')
  const old = await make('key create --name ci --org acme --can ask')
  await make(`key rotate ${old.id}`)
  await make('key create --name soon --org acme --can ask,read --owner 1 --expires 5d')
  await make('key create --name wide --can read --expires 5d')
  const ran = await follow()
  expect(ran).toEqual([
    'svc key create --name all-2 --org 1 --can ask',
    'svc key revoke 3',
    'svc key revoke 2',
    `svc key revoke ${old.id}`,
    'svc key create --name soon-2 --org 1 --can ask,read --expires 90d --owner 1',
    'svc key create --name wide-2 --can read --expires 90d',
  ])
  expect(await findings()).toMatchObject([{ state: 'ok' }])
})

test('about keys of the whole service works where a profile sets an organization', async () => {
  await make('key create --name wide --can read --expires 5d')
  const ran = await follow({ SVC_ORG: 'acme' })
  expect(ran).toEqual(["svc key create --name wide-2 --org='' --can read --expires 90d"])
  expect((await run('key list -o json')).data()).toContainEqual(
    expect.objectContaining({ name: 'wide-2', org_id: null }),
  )
})

test('about unused keys works, and leaves the key in use', async () => {
  const second = await make('key create --name second --can all')
  const unused = await make('key create --name never --org acme --can ask', { SVC_API_KEY: second.key })
  const env = { SVC_API_KEY: second.key }
  expect(await follow(env, 40)).toEqual([`svc key revoke ${unused.id}`])
  expect((await run('whoami', env)).exit).toBe(0)
})

test('with the key of an organization says what only another key can do', async () => {
  const { key } = await make('key create --name lead --org acme --can keys,read --expires 10d')
  const found = await findings({ SVC_API_KEY: key })
  expect(found.map(({ next }) => next)).toEqual([
    'Use an operator key: this key can neither replace nor end it',
  ])
})

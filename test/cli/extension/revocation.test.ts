import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { outcomeOf } from '../../../src/cli/extension/revocation.ts'
import { startService, type RunningService } from '../../../src/service/lifecycle/serve.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { svc } from '../svc.ts'

let dir: string
let remove: () => void
let service: RunningService
beforeEach(async () => {
  ;({ path: dir, remove } = temporaryFolder())
  service = await startService({
    host: '127.0.0.1',
    port: 0,
    dataDir: join(dir, 'data'),
    env: {},
    dev: true,
    log: () => undefined,
  })
  saveProfiles({ local: profile({ api_key: service.operatorKey! }) })
})
afterEach(async () => {
  await service.stop()
  remove()
})

type Saved = Record<string, string>
const file = () => join(dir, 'config', 'profiles.json')
const profile = (keys: Saved, base = service.baseUrl): Saved => ({
  base_url: base,
  ...keys,
  ...Object.fromEntries(Object.keys(keys).map((name) => [`${name}_origin`, new URL(base).origin])),
})
const saveProfiles = (profiles: Record<string, Saved>): void => {
  mkdirSync(join(dir, 'config'), { recursive: true, mode: 0o700 })
  writeFileSync(file(), JSON.stringify({ version: 1, current: 'local', profiles }), { mode: 0o600 })
}
const saved = (): Record<string, Saved> => JSON.parse(readFileSync(file(), 'utf8')).profiles
const run = (line: string, env: Saved = {}) =>
  svc(line, { cwd: dir, env: { SVC_CONFIG_DIR: join(dir, 'config'), ...env }, now: () => new Date() })
const works = async (key: string): Promise<boolean> =>
  (await fetch(`${new URL(service.baseUrl).origin}/svc/v1/whoami`, { headers: { 'x-api-key': key } })).ok
const made = async (line: string) => (await run(`${line} -o json`)).data() as { id: string; key: string }

describe('svc key rotate', () => {
  test('says until when the old secret works, with the command that ends it', async () => {
    const old = service.operatorKey!
    const { exit, out, err } = await run('key rotate 1 --jq .key')
    expect(exit).toBe(0)
    expect(err).toMatch(/^Secret 1 works until \d{4}-\S+Z\. To end it now: svc key revoke 1$/m)
    const key = out.trim()
    expect([await works(old), await works(key)]).toEqual([true, true])
    const env = { SVC_API_KEY: key, SVC_BASE_URL: service.baseUrl }
    expect(await run('key revoke 1 --yes', env)).toMatchObject({ exit: 0 })
    expect([await works(old), await works(key)]).toEqual([false, true])
  })

  test('ends every older secret with --overlap 0', async () => {
    const first = await made('key create --name ci --can ask')
    const second = await made(`key rotate ${first.id}`)
    const { exit, out } = await run(`key rotate ${second.id} --overlap 0 --jq .key`)
    expect(exit).toBe(0)
    const keys = [first.key, second.key, out.trim()]
    expect(await Promise.all(keys.map(works))).toEqual([false, false, true])
  })

  test('of a replaced secret leads to the commands that work', async () => {
    const first = await made('key create --name ci --can ask')
    const second = await made(`key rotate ${first.id}`)
    const { exit, hint } = await run(`key rotate ${first.id} --overlap 0`)
    expect([exit, hint]).toEqual([
      3,
      `svc key revoke ${first.id} ends this secret now; svc key rotate ${second.id} replaces the newest one`,
    ])
    expect((await run(`key revoke ${first.id} --yes`)).exit).toBe(0)
    expect((await run(`key rotate ${second.id}`)).exit).toBe(0)
  })
})

describe('svc key revoke', () => {
  test('says what else ended, also with --yes, and in the data', async () => {
    const lead = await made('key create --name lead --can keys,ask')
    const env = { SVC_API_KEY: lead.key, SVC_BASE_URL: service.baseUrl }
    const child = (await run('key create --name child --can ask -o json', env)).data() as { id: string }
    const next = await made(`key rotate ${lead.id}`)
    const { err, data } = await run(`key revoke ${next.id} --yes -o json`)
    expect(err).toContain(`1 key is revoked with it: ${child.id} child (ask)\n`)
    expect(err).toContain(`Its older secrets end too: ${lead.id}\n`)
    expect(data()).toMatchObject({ secrets: [lead.id], created_keys: [{ id: child.id }], newest_id: null })
  })

  test('of a replaced secret says that its successor stays', async () => {
    const lead = await made('key create --name lead --can ask')
    const next = await made(`key rotate ${lead.id}`)
    const { err } = await run(`key revoke ${lead.id} --yes`)
    expect(err).toBe(
      `Only this secret ends. Secret ${next.id}, which replaced it, still works; svc key revoke ${next.id} ends the key\n`,
    )
  })

  test('says what the key added and still works, with a command that ends it', async () => {
    await run('org create --name Acme --slug acme')
    await run(
      'user create --org acme --first-name Ada --last-name L --email a@a.example --country-code +1 --mobile 2025550101',
    )
    const top = await made('key create --name top --org acme --can all')
    const env = { SVC_API_KEY: top.key, SVC_BASE_URL: service.baseUrl }
    const enrolled = await run('user enroll 1 --org acme --software --file a.json', env)
    expect(enrolled).toMatchObject({ exit: 0 })
    const { exit, err } = await run(`key revoke ${top.id} --yes`)
    expect(exit).toBe(0)
    expect(err).toContain('Still works: device 1 "Software key" of user 1 (Ada L)\n')
    const hint = /^hint: Review these\. To end them too: svc (.*)$/m.exec(err)![1]!
    expect((await run(`${hint} --yes`)).err).toContain(
      'Ended with it: device 1 "Software key" of user 1 (Ada L)\n',
    )
    expect((await run('user devices list 1 --org acme --jq .[].state')).out).toBe('revoked\n')
  })
})

test('of many devices and agents, the first ones are named', () => {
  const tablet = { org_id: 1, id: '7', name: 'Tablet\u202e', user_id: '1', owner: 'Ada L' }
  const many = { devices: Array.from({ length: 12 }, () => tablet), agents: [tablet], more: false }
  const lines = outcomeOf({ remaining: many }, 'svc key revoke 3')
  expect(lines[0]).toBe('Still works: device 7 "Tablet\\u{202e}" of user 1 (Ada L)')
  expect(lines.slice(-2)).toEqual([
    'Still works: and 3 more',
    'hint: Review these. To end them too: svc key revoke 3 --with-added',
  ])
  expect(outcomeOf({ ended: { devices: [], agents: [], more: false } }, 'svc key revoke 3')).toEqual([])
})

describe('svc key rotate', () => {
  test.each(['', ' --overlap 0'])(
    '%j saves the secret wherever this machine holds the key, and nowhere else',
    async (more) => {
      const old = service.operatorKey!
      const other = `svc_op_00000000_${'x'.repeat(43)}`
      const elsewhere = profile({ api_key: old }, 'https://host.example/admin/public/api')
      saveProfiles({
        local: profile({ api_key: old, ask_key: other }),
        asks: profile({ api_key: other, ask_key: old }),
        elsewhere,
      })
      const { exit, out, err } = await run(`key rotate 1 --jq .key${more}`)
      const key = out.trim()
      expect(exit).toBe(0)
      expect(saved()).toEqual({
        local: profile({ api_key: key, ask_key: other }),
        asks: profile({ api_key: other, ask_key: key }),
        elsewhere,
      })
      expect(err).toContain('Saved in profile local (API key)\nSaved in profile asks (ask key)\n')
      expect((await run('whoami -o json')).data()).toMatchObject({ key_id: '2' })
    },
  )

  test('says that a key in a variable is an old one, and saves nothing', async () => {
    saveProfiles({ local: profile({}) })
    const before = saved()
    const { err } = await run('key rotate 1 --jq .key', { SVC_API_KEY: service.operatorKey! })
    expect(err).toContain('is an old secret; replace it with the new one')
    expect(saved()).toEqual(before)
  })
})

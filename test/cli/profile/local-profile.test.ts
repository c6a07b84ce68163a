import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { saveLocalProfile, type LocalService } from '../../../src/cli/profile/local-profile.ts'
import { createStore, type Profile } from '../../../src/cli/context/profile-store.ts'
import { temporaryFolder } from '../../temporary-folder.ts'

let dir: string
let remove: () => void
const io = () => ({ env: { SVC_CONFIG_DIR: join(dir, 'config') }, cwd: dir })
beforeEach(() => {
  ;({ path: dir, remove } = temporaryFolder())
})
afterEach(() => remove())

const service = (port: number, more: Partial<LocalService> = {}): LocalService => ({
  baseUrl: `http://127.0.0.1:${port}/admin/public/api`,
  mcpUrl: `http://127.0.0.1:${port}/mcp`,
  dataDir: '/data',
  canAsk: async (key) => key === 'ask-1' || key === 'mine',
  makeAskKey: async () => 'ask-1',
  ...more,
})
const local = (): Profile | undefined => createStore(io()).read().profiles['local']
const change = (profile: { [F in keyof Profile]?: Profile[F] | undefined }) =>
  createStore(io()).update((file) => {
    Object.assign(file.profiles['local']!, profile)
  })

test('creates the profile and makes it current', async () => {
  expect(await saveLocalProfile({ io: io() }, service(8080, { key: 'k1' }))).toBeUndefined()
  expect(createStore(io()).read()).toEqual({
    version: 1,
    current: 'local',
    profiles: {
      local: {
        base_url: 'http://127.0.0.1:8080/admin/public/api',
        mcp_url: 'http://127.0.0.1:8080/mcp',
        data_dir: '/data',
        api_key: 'k1',
        api_key_origin: 'http://127.0.0.1:8080',
        ask_key: 'ask-1',
        ask_key_origin: 'http://127.0.0.1:8080',
      },
    },
  })
})
test('does not change the current profile', async () => {
  await createStore(io()).update((file) => {
    file.profiles['prod'] = {}
    file.current = 'prod'
  })
  await saveLocalProfile({ io: io() }, service(8080, { key: 'k1' }))
  expect(createStore(io()).read().current).toBe('prod')
})
test('says how to get a key if it has none', async () => {
  expect(await saveLocalProfile({ io: io() }, service(8080))).toMatch(
    /svc profile login local --with-key\. .*svc service reset-operator-key --data-dir \/data$/,
  )
  await change({ credential_command: ['pass', 'svc'] })
  expect(await saveLocalProfile({ io: io() }, service(9090))).toBeUndefined()
})
test('updates the port of its own profile and keeps the rest', async () => {
  await saveLocalProfile({ io: io() }, service(8080, { key: 'k1' }))
  await change({ org: 'acme' })
  expect(await saveLocalProfile({ io: io() }, service(9090))).toBeUndefined()
  expect(local()).toMatchObject({
    base_url: 'http://127.0.0.1:9090/admin/public/api',
    mcp_url: 'http://127.0.0.1:9090/mcp',
    api_key: 'k1',
    api_key_origin: 'http://127.0.0.1:9090',
    ask_key: 'ask-1',
    ask_key_origin: 'http://127.0.0.1:9090',
    org: 'acme',
  })
})
test('saves a new key', async () => {
  await saveLocalProfile({ io: io() }, service(8080, { key: 'k1' }))
  await saveLocalProfile({ io: io() }, service(8080, { key: 'k2' }))
  expect(local()).toMatchObject({ api_key: 'k2' })
})
test('keeps an ask key while it works, and replaces one that does not', async () => {
  await saveLocalProfile({ io: io() }, service(8080, { key: 'k1' }))
  await change({ ask_key: 'mine' })
  await saveLocalProfile({ io: io() }, service(8080))
  expect(local()).toMatchObject({ ask_key: 'mine' })
  await change({ ask_key: 'revoked' })
  await saveLocalProfile({ io: io() }, service(9090))
  expect(local()).toMatchObject({ ask_key: 'ask-1', ask_key_origin: 'http://127.0.0.1:9090' })
})
test('creates an ask key for a profile of an earlier version', async () => {
  await saveLocalProfile({ io: io() }, service(8080, { key: 'k1' }))
  await change({ ask_key: undefined, ask_key_origin: undefined })
  await saveLocalProfile({ io: io() }, service(9090))
  expect(local()).toMatchObject({ api_key: 'k1', ask_key: 'ask-1' })
})
test('creates no ask key that would not be saved, or if a command prints one', async () => {
  let made = 0
  const makeAskKey = async () => `ask-${(made += 1)}`
  await saveLocalProfile({ io: io() }, service(8080, { makeAskKey }))
  expect(local()).not.toHaveProperty('ask_key')
  await change({ credential_command: ['pass', 'svc'], ask_credential_command: ['pass', 'ask'] })
  await saveLocalProfile({ io: io() }, service(9090, { makeAskKey }))
  expect(local()).not.toHaveProperty('ask_key')
  await saveLocalProfile({ io: io() }, service(9090, { key: 'k2', dataDir: '/other', makeAskKey }))
  expect(made).toBe(0)
})
test('never replaces a profile of another data folder', async () => {
  await saveLocalProfile({ io: io() }, service(8080, { key: 'k1' }))
  const before = local()
  const note = await saveLocalProfile({ io: io() }, service(9090, { key: 'k2', dataDir: '/other' }))
  expect(note).toContain('belongs to /data')
  expect(note).not.toContain('k2')
  expect(local()).toEqual(before)
})
test('does not move a key to another address', async () => {
  await saveLocalProfile({ io: io() }, service(8080, { key: 'k1' }))
  await change({ base_url: 'https://host.example/admin/public/api' })
  const before = local()
  expect(await saveLocalProfile({ io: io() }, service(9090))).toContain('points to https://host.example')
  expect(local()).toEqual(before)
})

import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientFiles, clientNames } from '../../src/cli/mcp/client-files.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { svc } from './processes.ts'
import { startServiceHere, type ServiceHere } from './service-here.ts'
import { svcHere } from './prepare.ts'

const key = 'svc_op_endtoend_0123456789012345678901234567890'
const folder = temporaryFolder()
const home = { HOME: folder.path }
let service: ServiceHere

beforeAll(async () => {
  service = await startServiceHere(join(folder.path, 'data'), key, { dev: true })
  const profile = { base_url: service.baseUrl, api_key: key, api_key_origin: new URL(service.baseUrl).origin }
  const file = join(folder.path, '.config', 'svc', 'profiles.json')
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, JSON.stringify({ version: 1, current: 'work', profiles: { work: profile } }), {
    mode: 0o600,
  })
})
afterAll(async () => {
  await service.stop()
  folder.remove()
})

const askKeys = () =>
  JSON.parse(readFileSync(join(folder.path, '.config', 'svc', 'profiles.json'), 'utf8')).profiles.work.ask_key

test.each(clientNames)(
  'svc mcp install %s writes a configuration without a secret that works',
  async (client) => {
    const path = clientFiles[client].user({ env: home, cwd: folder.path })
    const { exit, stdout, stderr } = await svc(['mcp', 'install', client, '-o', 'json'], home)
    expect([exit, stderr.includes('Restart')]).toEqual([0, true])
    expect(JSON.parse(stdout)).toMatchObject({ file: path, profile: 'work', tools: expect.any(Array) })
    const text = readFileSync(path, 'utf8')
    expect(text).toContain(process.execPath)
    expect(text).not.toContain('svc_')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(askKeys()).toMatch(/^svc_/)
    const again = await svc(['mcp', 'install', client], home)
    expect([again.exit, readFileSync(path, 'utf8')]).toEqual([0, text])
    expect((await svcHere(['mcp', 'uninstall', client], home)).exit).toBe(0)
    expect(readFileSync(path, 'utf8')).not.toContain(process.execPath)
  },
)

test('one key serves every client', async () => {
  const before = askKeys()
  await svc(['mcp', 'install', 'cursor', '--project', '--dry-run'], home)
  expect(askKeys()).toBe(before)
})

test('a client is not configured if the service does not answer or accept the key', async () => {
  const path = join(folder.path, '.gemini', 'settings.json')
  writeFileSync(path, '{ "theme": "dark" }')
  const broken = { ...home, SVC_CONFIG_DIR: join(folder.path, 'broken') }
  const profile = {
    base_url: service.baseUrl,
    ask_key: 'svc_org_00000000_no',
    ask_key_origin: new URL(service.baseUrl).origin,
  }
  mkdirSync(broken.SVC_CONFIG_DIR, { mode: 0o700 })
  const file = join(broken.SVC_CONFIG_DIR, 'profiles.json')
  writeFileSync(file, JSON.stringify({ version: 1, current: 'work', profiles: { work: profile } }))
  chmodSync(file, 0o600)
  const refused = await svc(['mcp', 'install', 'gemini'], broken)
  expect([refused.exit, readFileSync(path, 'utf8')]).toEqual([4, '{ "theme": "dark" }'])
  expect(refused.stderr).toContain('does not accept this API key')

  const origin = 'http://127.0.0.1:1'
  const away = { ...profile, base_url: `${origin}/admin/public/api`, ask_key_origin: origin }
  writeFileSync(file, JSON.stringify({ version: 1, current: 'work', profiles: { work: away } }))
  const down = await svc(['mcp', 'install', 'gemini'], broken)
  expect([down.exit, readFileSync(path, 'utf8')]).toEqual([9, '{ "theme": "dark" }'])
  expect(down.stderr).toMatch(/^svc: Nothing answers at 127\.0\.0\.1:1\nhint: /)
})

test('a client is not configured without a profile', async () => {
  const empty = { HOME: join(folder.path, 'nobody') }
  const { exit, stderr } = await svc(['mcp', 'install', 'cursor'], { ...empty, SVC_API_KEY: key })
  expect([exit, existsSync(join(empty.HOME, '.cursor'))]).toEqual([2, false])
  expect(stderr).toContain('svc profile login')
})

test.each([
  ['{ "mcpServers": ', /mcp\.json:1:\d+ is not valid JSON/],
  ['{ "mcpServers": "x" }', /mcp\.json:1:17 must be an object/],
])('a damaged file is refused with its position and stays as it is: %s', async (text, problem) => {
  const path = clientFiles.cursor.user({ env: home, cwd: folder.path })
  writeFileSync(path, text)
  const { exit, stderr } = await svc(['mcp', 'install', 'cursor'], home)
  expect([exit, readFileSync(path, 'utf8')]).toEqual([1, text])
  expect(stderr).toMatch(problem)
})

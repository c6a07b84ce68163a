import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startService, type RunningService } from '../../../src/service/lifecycle/serve.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { svc } from '../svc.ts'

const { path: dir, remove } = temporaryFolder()
let service: RunningService
beforeAll(async () => {
  const data = { host: '127.0.0.1', port: 0, dataDir: join(dir, 'data'), env: {}, log: () => undefined }
  service = await startService(data)
  await run('org create --name Acme -o json')
})
afterAll(async () => {
  await service.stop()
  remove()
})

const run = (line: string, env: Record<string, string> = {}) => {
  const own = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: service.operatorKey!, SVC_CONFIG_DIR: dir }
  // The service compares with the time of this machine.
  return svc(line, { env: { ...own, ...env }, now: () => new Date() })
}

describe('svc key create', () => {
  test('requires --can in a script', async () => {
    const { exit, message, hint } = await run('key create --name ci')
    expect(exit).toBe(2)
    expect([message, hint]).toEqual(['Missing --can', 'svc key create --name ci --can ask'])
  })

  test('lists the scopes if one is unknown', async () => {
    const { exit, message } = await run('key create --name ci --can ask,aks')
    expect(exit).toBe(2)
    expect(message).toBe(
      '--can must be ask, read, people, rules, devices, keys, notify, app, admin or all, not "aks"',
    )
  })

  test('accepts presets, scopes and a lifetime together', async () => {
    const { data } = await run('key create --name preset --org acme --can admin,ask --expires 30d -o json')
    const { scopes, expires_at } = data()
    expect(scopes).toEqual(['ask', 'read', 'people', 'rules', 'devices', 'keys', 'notify'])
    expect(Math.round((Date.parse(expires_at) - Date.now()) / 86_400_000)).toBe(30)
  })

  test.each([
    ['soon', '--expires is not a valid time: "soon"'],
    ['2020-01-31', '--expires must be in the future'],
  ])('rejects the expiry %s', async (typed, expected) => {
    const { exit, message } = await run(`key create --name ci --can ask --expires ${typed}`)
    expect([exit, message]).toEqual([2, expected])
  })

  test('rejects an owner who is not a member, by the flag', async () => {
    const { exit, message } = await run('key create --name ci --org acme --can ask --owner 99')
    expect([exit, message]).toEqual([2, '--owner must be an active member of the organization'])
  })

  test('never creates a key that can do more than the current one', async () => {
    const { data } = await run('key create --name weak --org acme --can keys,ask --expires 1h -o json')
    const { key } = data()
    const weak = { SVC_API_KEY: key }
    const stronger = await run('key create --name x --can rules --expires 30m', weak)
    expect([stronger.exit, stronger.message]).toEqual([
      4,
      'This key cannot grant "rules", because it does not have it',
    ])
    const later = await run('key create --name x --can ask --expires 2h', weak)
    expect([later.exit, later.message]).toEqual([
      2,
      expect.stringMatching(/^--expires must not be after .*, when the key in use expires$/),
    ])
  })
})

test('svc commands prints the scope of each command', async () => {
  const { data } = await run('commands')
  type Node = { name: string; scope: string | null; commands: Node[] }
  const find = (words: string): Node =>
    words.split(' ').reduce((at, word) => at.commands.find(({ name }) => name === word)!, data() as Node)
  const scopes = ['geofence create', 'approve status', 'approve run', 'org create', 'whoami', 'user import']
  expect(scopes.map((words) => find(words).scope)).toEqual([
    'rules',
    'any',
    'ask',
    'every scope, without an organization (an operator key)',
    'any',
    'read and people',
  ])
  expect(find('completion').scope).toBeNull()
})

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { folderMaintenance } from '../../../src/service/lifecycle/folder-maintenance.ts'
import { type Listed, ask, dataDir, installHooks, portOf, start } from '../started.ts'

installHooks()

const store = () => folderMaintenance(dataDir, {}, () => undefined)

describe('a first start', () => {
  test('makes an operator key that works, and shows it this once', async () => {
    const first = await start()
    expect((await ask(first, '/organizations', first.operatorKey!)).status).toBe(200)
    await first.stop()
    const second = await start()
    expect(second.operatorKey).toBeUndefined()
    expect((await ask(second, '/organizations', first.operatorKey!)).status).toBe(200)
  })

  test('says where it is', async () => {
    const service = await start({ publicUrl: 'https://svc.example.com/' })
    const origin = `http://127.0.0.1:${portOf(service)}`
    expect(service).toMatchObject({
      baseUrl: `${origin}/admin/public/api`,
      mcpUrl: `${origin}/mcp`,
      healthUrl: `${origin}/health`,
      approverUrl: 'https://svc.example.com/approver',
      dataDir,
    })
  })

  test('keeps its directory and files from others, whatever the umask is', async () => {
    mkdirSync(dataDir, { mode: 0o777 })
    const before = process.umask(0)
    try {
      await start()
    } finally {
      process.umask(before)
    }
    expect(statSync(dataDir).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(dataDir))
      expect([name, statSync(join(dataDir, name)).mode & 0o777]).toEqual([name, 0o600])
  })

  test('accepts a preset operator key, and does not show it', async () => {
    const key = 'a-preset-key-of-more-than-32-characters'
    const service = await start({ env: { SVC_BOOTSTRAP_API_KEY: key } })
    expect(service.operatorKey).toBeUndefined()
    expect((await ask(service, '/organizations', key)).status).toBe(200)
    expect((await ask(service, '/organizations', `${key}x`)).status).toBe(401)
  })

  test('refuses a weak preset key and leaves nothing running', async () => {
    await expect(start({ env: { SVC_BOOTSTRAP_API_KEY: 'short' } })).rejects.toMatchObject({
      code: 'weak_bootstrap_key',
    })
    expect((await start()).operatorKey).toBeDefined()
  })
})

describe('a start that cannot be', () => {
  test('rejects a second service on the same directory, with the process that uses it', async () => {
    const first = await start()
    await expect(start()).rejects.toMatchObject({
      name: 'SvcError',
      code: 'data_dir_in_use',
      message: `The data folder ${dataDir} is in use by process ${process.pid}`,
    })
    await first.stop()
    await start()
  })

  test('a port in use is an error with a solution, and creates no operator key', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    await expect(start({ port })).rejects.toMatchObject({
      code: 'cannot_listen',
      hint: expect.stringContaining('--port 0'),
    })
    await new Promise((resolve) => other.close(resolve))
    expect((await start({ port })).operatorKey).toBeDefined()
  })

  test.each<[string, Parameters<typeof start>[0], string]>([
    ['an open address without a token', { host: '0.0.0.0' }, 'Without MCP_AUTH_TOKEN'],
    [
      'an open address with --dev',
      { host: '0.0.0.0', dev: true, env: { MCP_AUTH_TOKEN: 'x'.repeat(32) } },
      '--dev',
    ],
    ['a public URL with a path', { publicUrl: 'https://svc.example.com/x' }, '--public-url'],
    ['a certificate without its key', { tlsCert: 'cert.pem' }, '--tls-key'],
    ['a certificate that is not there', { tlsCert: '/nowhere.pem', tlsKey: '/nowhere.key' }, '/nowhere.pem'],
    ...['10.20', '0.0.0.0/0', '10.0.0.0/7', '127.0.0.0/8', '169.254.0.0/16', '::/0', '203.0.113.0/24'].map(
      (network): [string, Parameters<typeof start>[0], string] => [
        `${network} as a private network`,
        { webhookNetwork: [network] },
        `--webhook-network is not a private network: "${network}"`,
      ],
    ),
    ['a proxy that is no network', { trustedProxy: ['10.0.0'] }, '10.0.0'],
  ])('%s is refused', async (_, options, message) => {
    await expect(start(options)).rejects.toThrow(message)
  })

  test('a data folder that is a file is refused', async () => {
    writeFileSync(dataDir, '')
    await expect(start()).rejects.toMatchObject({ code: 'data_dir_unusable' })
  })

  test('a master key that others can read is refused, with the command that mends it', async () => {
    const service = await start()
    await service.stop()
    execFileSync('chmod', ['644', join(dataDir, 'master.key')])
    await expect(start()).rejects.toMatchObject({
      code: 'open_master_key',
      hint: `chmod 600 '${join(dataDir, 'master.key')}'`,
    })
  })

  test('the master key of another store is refused', async () => {
    const service = await start()
    await service.stop()
    await expect(start({ env: { SVC_MASTER_KEY: 'ab'.repeat(32) } })).rejects.toMatchObject({
      code: 'wrong_master_key',
    })
  })

  test('a master key of another length is refused', async () => {
    await expect(start({ env: { SVC_MASTER_KEY: 'abcd' } })).rejects.toMatchObject({ code: 'bad_master_key' })
  })
})

describe('a lost operator key', () => {
  test('is replaced; the old one expires, and the audit shows it', async () => {
    const service = await start()
    const old = service.operatorKey!
    await expect(store().resetOperatorKey()).rejects.toMatchObject({ code: 'data_dir_in_use' })
    await service.stop()
    const { key: fresh } = await store().resetOperatorKey()
    const again = await start()
    expect(again.operatorKey).toBeUndefined()
    expect((await ask(again, '/organizations', old)).status).toBe(401)
    const audit = await fetch(`${new URL(again.baseUrl).origin}/svc/v1/audit?org_id=0`, {
      headers: { 'x-api-key': fresh, connection: 'close' },
    })
    const { data } = (await audit.json()) as Listed
    expect(data.map(({ action }) => action)).toEqual(['resetOperatorKey', 'createKey'])
  })

  test('does not exist, and is not created, if no service ever ran', async () => {
    await expect(store().resetOperatorKey()).rejects.toMatchObject({ code: 'no_store' })
    await expect(store().migrate()).rejects.toMatchObject({ code: 'no_store' })
    expect(existsSync(dataDir)).toBe(false)
  })

  test('a store that is up to date has nothing to migrate', async () => {
    await (await start()).stop()
    expect(await store().migrate()).toBeUndefined()
  })
})

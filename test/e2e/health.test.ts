import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createConnection } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startService, svc, type Service } from './processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const folder = temporaryFolder()
const key = 'svc_op_endtoend_0123456789012345678901234567890'
let service: Service

beforeAll(async () => {
  service = await startService(join(folder.path, 'data'), key)
})
afterAll(async () => {
  await service.stop('SIGKILL')
  folder.remove()
})

const probe = async (path: string): Promise<[status: number, body: unknown]> => {
  const answer = await fetch(new URL(path, service.baseUrl))
  return [answer.status, await answer.json()]
}
/** Limits the size of every file of the service, to act like a full disk, or removes the limit. */
const limitFiles = (size: string): void => {
  execFileSync('prlimit', ['--pid', String(service.process.pid), `--fsize=${size}:`])
}
const env = () => ({
  SVC_BASE_URL: service.baseUrl,
  SVC_API_KEY: key,
  SVC_CONFIG_DIR: join(folder.path, 'config'),
})

test('/health and /health/ready report that storage cannot be written, and when it can be again', async () => {
  expect(await probe('/health')).toEqual([200, { ok: true, transport: 'http' }])
  expect(await probe('/health/ready')).toEqual([200, { ok: true }])
  limitFiles('1')
  await expect.poll(() => probe('/health')).toEqual([200, { ok: false, transport: 'http' }])
  expect(await probe('/health/ready')).toEqual([503, { ok: false, reason: 'storage_unavailable' }])
  const doctor = await svc(['doctor', '-o', 'json'], env())
  expect([doctor.exit, doctor.stdout]).toEqual([1, expect.stringContaining('cannot write')])
  // The tool server of another program is well.
  const elsewhere = createServer((_, response) => response.end('{"ok":true}')).listen(0, '127.0.0.1')
  await once(elsewhere, 'listening')
  const mcpUrl = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/mcp`
  const beside = await svc(['doctor', '-o', 'json'], { ...env(), SVC_MCP_URL: mcpUrl })
  elsewhere.close()
  expect(JSON.parse(beside.stdout)).toContainEqual({
    check: 'service',
    state: 'fail',
    message: expect.stringContaining('not healthy'),
    next: expect.stringContaining('cannot write'),
  })
  expect((await svc(['approve', 'health'], env())).exit).toBe(1)
  limitFiles('unlimited')
  await expect.poll(() => probe('/health')).toEqual([200, { ok: true, transport: 'http' }])
  expect(await probe('/health/ready')).toEqual([200, { ok: true }])
})

test('/health reports a failed write even while one more page would fit', async () => {
  expect(await probe('/health')).toEqual([200, { ok: true, transport: 'http' }])
  limitFiles(String(statSync(join(folder.path, 'data', 'svc.db-wal')).size + 2 * 4120))
  const { exit } = await svc(['org', 'create', '--name', 'Acme'], env())
  expect(exit).not.toBe(0)
  expect(await probe('/health')).toEqual([200, { ok: false, transport: 'http' }])
  limitFiles('unlimited')
  const ok = [200, { ok: true, transport: 'http' }]
  await expect.poll(() => probe('/health')).toEqual(ok)
  expect((await svc(['org', 'create', '--name', 'Acme'], env())).exit).toBe(0)
})

test('/health/ready answers 503 while the service stops', async () => {
  const stopping = await startService(join(folder.path, 'stopping'), key)
  // The request is in progress when the signal arrives, so it is still answered.
  const socket = createConnection(Number(new URL(stopping.baseUrl).port), '127.0.0.1')
  socket.write('GET /health/ready HTTP/1.1\r\nHost: localhost\r\n')
  await fetch(new URL('/health', stopping.baseUrl), { headers: { connection: 'close' } })
  const ended = stopping.stop()
  await expect.poll(() => fetch(new URL('/health', stopping.baseUrl)).catch(() => 'refused')).toBe('refused')
  socket.write('\r\n')
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1\.1 503 [^]*\{"ok":false,"reason":"stopping"\}/)
  expect(await ended).toBe(0)
})

import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { expect, test } from 'vitest'
import { selfSigned } from '../certificate.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { startService, svc } from './processes.ts'

const key = 'svc_op_endtoend_0123456789012345678901234567890'

/** The certificate that a new connection gets. */
const servedAt = async (baseUrl: string): Promise<string> => {
  const socket = connect({ port: Number(new URL(baseUrl).port), rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { raw } = socket.getPeerCertificate()
  socket.destroy()
  return new X509Certificate(raw).fingerprint256
}

test('SIGHUP reads the certificate again and never ends the service; a wrong file changes nothing', async () => {
  const { path, remove } = temporaryFolder()
  const [cert, privateKey] = [join(path, 'cert.pem'), join(path, 'key.pem')]
  const renew = (until?: string): string => {
    const made = selfSigned(until)
    writeFileSync(cert, made.cert)
    writeFileSync(privateKey, made.key)
    return new X509Certificate(made.cert).fingerprint256
  }
  const first = renew()
  const service = await startService(join(path, 'data'), key, ['--tls-cert', cert, '--tls-key', privateKey])
  try {
    expect(await servedAt(service.baseUrl)).toBe(first)
    const second = renew()
    service.process.kill('SIGHUP')
    await expect.poll(() => servedAt(service.baseUrl)).toBe(second)
    writeFileSync(privateKey, 'not a key')
    service.process.kill('SIGHUP')
    await expect.poll(() => service.log()).toContain('The certificate was not reloaded')
    expect(await servedAt(service.baseUrl)).toBe(second)
    renew('210101000000Z')
    service.process.kill('SIGHUP')
    await expect.poll(() => service.log()).toContain('The certificate expired at 2021-01-01T00:00:00.000Z')
  } finally {
    expect(await service.stop()).toBe(0)
    remove()
  }
})

test('SIGHUP to a service without a certificate, as logrotate sends it, changes nothing', async () => {
  const { path, remove } = temporaryFolder()
  const service = await startService(join(path, 'data'), key)
  service.process.kill('SIGHUP')
  await expect.poll(() => service.log()).toContain('SIGHUP')
  expect((await fetch(new URL('/health', service.baseUrl))).status).toBe(200)
  expect(await service.stop()).toBe(0)
  remove()
})

const read = (name: string): string => readFileSync(name, 'utf8')

test('SIGHUP opens the file of the log again after logrotate has moved it', async () => {
  const { path, remove } = temporaryFolder()
  const [file, moved] = [join(path, 'svc.log'), join(path, 'svc.log.1')]
  const service = await startService(join(path, 'data'), key, ['--log-file', file])
  const ask = (route: string) => fetch(new URL(route, service.baseUrl))
  await ask('/before')
  await expect.poll(() => read(file)).toContain('"status":404')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  renameSync(file, moved)
  await ask('/approver')
  await expect.poll(() => read(moved)).toContain('/approver')
  service.process.kill('SIGHUP')
  await expect.poll(() => read(file)).toContain('SIGHUP')
  const kept = read(moved)
  await ask('/health')
  await expect.poll(() => read(file)).toContain('/health')
  expect(await service.stop()).toBe(0)
  expect([read(moved), service.log()]).toEqual([kept, ''])
  remove()
})

test('a file of the log that cannot be written ends the start', async () => {
  const { path, remove } = temporaryFolder()
  const { exit, stderr } = await svc(`serve --port 0 --data-dir ${path}/data --log-file ${path}/no/svc.log`)
  expect([exit, stderr]).toEqual([
    1,
    expect.stringMatching(/--log-file .* cannot be written\n[^]*hint: Use a file/),
  ])
  remove()
})

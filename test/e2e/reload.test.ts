import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { expect, test } from 'vitest'
import { selfSigned } from '../certificate.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { startService } from './processes.ts'

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
  const renew = (): string => {
    const made = selfSigned()
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

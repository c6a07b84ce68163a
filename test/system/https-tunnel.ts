import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { selfSigned } from '../certificate.ts'

/** TLS in front of a service, and how a browser finds and trusts it at https://svc.test. */
export const createTunnel = async () => {
  const { cert, key } = selfSigned()
  let port = 0
  const server = createServer({ cert, key }, (socket) => {
    const there = connect(port, '127.0.0.1')
    for (const [one, other] of [
      [socket, there],
      [there, socket],
    ] as const)
      one.on('error', () => other.destroy()).pipe(other)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const spki = new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'der' })
  return {
    origin: 'https://svc.test',
    flags: [
      `--host-resolver-rules=MAP svc.test:443 127.0.0.1:${(server.address() as AddressInfo).port}`,
      `--ignore-certificate-errors-spki-list=${createHash('sha256').update(spki).digest('base64')}`,
    ],
    connect: (service: string): void => void (port = Number(new URL(service).port)),
    close: (): void => void server.close(),
  }
}

import { generateKeyPairSync, sign } from 'node:crypto'

// Just enough DER for a self-signed certificate, so that TLS is tested with Node alone.

const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
const sequence = (...parts: Buffer[]): Buffer => der(0x30, ...parts)
const hex = (text: string): Buffer => Buffer.from(text, 'hex')
const ecdsaWithSha256 = sequence(der(0x06, hex('2a8648ce3d040302')))
const commonName = (name: string): Buffer =>
  sequence(der(0x31, sequence(der(0x06, hex('550403')), der(0x0c, Buffer.from(name)))))
const utcTime = (text: string): Buffer => der(0x17, Buffer.from(text))

/** A certificate of its own authority for `svc.test` and 127.0.0.1, and its key, both PEM. */
export const selfSigned = (): { cert: string; key: string } => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const names = sequence(der(0x82, Buffer.from('svc.test')), der(0x87, Buffer.from([127, 0, 0, 1])))
  const extension = (oid: string, value: Buffer): Buffer => sequence(der(0x06, hex(oid)), der(0x04, value))
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    commonName('svc test'),
    sequence(utcTime('200101000000Z'), utcTime('491231235959Z')),
    commonName('svc test'),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(extension('551d11', names), extension('551d13', sequence(der(0x01, Buffer.from([0xff]))))),
    ),
  )
  const signature = sign('sha256', body, privateKey)
  const certificate = sequence(body, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature))
  const lines = certificate
    .toString('base64')
    .match(/.{1,64}/g)!
    .join('\n')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}

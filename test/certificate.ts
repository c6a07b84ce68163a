import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'

// Enough DER for a self-signed certificate, so that TLS is tested with Node alone.

const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
const sequence = (...parts: Buffer[]): Buffer => der(0x30, ...parts)
const hex = (text: string): Buffer => Buffer.from(text, 'hex')
const ecdsaWithSha256 = sequence(der(0x06, hex('2a8648ce3d040302')))
const attribute = (oid: string, text: string): Buffer =>
  der(0x31, sequence(der(0x06, hex(oid)), der(0x0c, Buffer.from(text))))
const utcTime = (text: string): Buffer => der(0x17, Buffer.from(text))
const extension = (oid: string, value: Buffer): Buffer => sequence(der(0x06, hex(oid)), der(0x04, value))
const basicConstraints = '551d13'

type Keys = { privateKey: KeyObject; publicKey: KeyObject }

/** Self-signed, in DER. */
const certificateOf = (
  subject: Buffer,
  extensions: Buffer[],
  { privateKey, publicKey }: Keys,
  until = '491231235959Z',
): Buffer => {
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    subject,
    sequence(utcTime('200101000000Z'), utcTime(until)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  )
  return sequence(body, ecdsaWithSha256, der(0x03, Buffer.from([0]), sign('sha256', body, privateKey)))
}

/** A certificate for `svc.test` and 127.0.0.1, signed by its own authority, and its key, both PEM. `until`: ASN.1 UTCTime. */
export const selfSigned = (until?: string): { cert: string; key: string } => {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const names = sequence(der(0x82, Buffer.from('svc.test')), der(0x87, Buffer.from([127, 0, 0, 1])))
  const certificate = certificateOf(
    sequence(attribute('550403', 'svc test')),
    [extension('551d11', names), extension(basicConstraints, sequence(der(0x01, Buffer.from([0xff]))))],
    keys,
    until,
  )
  const lines = certificate
    .toString('base64')
    .match(/.{1,64}/g)!
    .join('\n')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}

/** A certificate of somebody who pretends to be a maker of authenticators, in DER. */
export const attestationCertificate = (keys: Keys): Buffer =>
  certificateOf(
    sequence(
      attribute('550406', 'US'),
      attribute('55040a', 'Acme'),
      attribute('55040b', 'Authenticator Attestation'),
      attribute('550403', 'Acme authenticator'),
    ),
    [extension(basicConstraints, sequence())],
    keys,
  )

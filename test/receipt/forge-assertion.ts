import {
  assert,
  signAssertion,
  type Ceremony,
  type SoftwareKey,
} from '../../src/client/software-authenticator.ts'

export type Forgery = {
  /** The authenticator data to sign instead. */
  data?: (bytes: Buffer) => Buffer
  /** The client data to sign instead. */
  client?: object
}

/** An assertion over other bytes than an honest phone signs, with a valid signature of this key. */
export const forgeAssertion = (key: SoftwareKey, ceremony: Ceremony, { data, client }: Forgery) => {
  const honest = assert(key, ceremony)
  const bytes = Buffer.from(honest.response.authenticatorData, 'base64url')
  const authenticatorData = data ? data(bytes) : bytes
  const original = JSON.parse(Buffer.from(honest.response.clientDataJSON, 'base64url').toString()) as object
  const clientData = Buffer.from(JSON.stringify({ ...original, ...client }))
  const response = {
    ...honest.response,
    authenticatorData: authenticatorData.toString('base64url'),
    clientDataJSON: clientData.toString('base64url'),
    signature: Buffer.from(signAssertion(key, authenticatorData, clientData)).toString('base64url'),
  }
  return { ...honest, response }
}

export const withFlags = (flags: number) => (bytes: Buffer) => {
  bytes[32] = flags
  return bytes
}

export const withCounter = (count: number) => (bytes: Buffer) => {
  bytes.writeUInt32BE(count, 33)
  return bytes
}

export const withRelyingParty = (hash: Buffer) => (bytes: Buffer) => Buffer.concat([hash, bytes.subarray(32)])

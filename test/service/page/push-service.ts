import { createDecipheriv, createECDH, hkdfSync, randomBytes, type ECDH } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'

export type Received = { headers: IncomingHttpHeaders; body: Buffer; path: string }

/** A push service of this machine that keeps what it gets and answers as it is told; over TLS with a certificate. */
export const startPushService = async (tls?: { cert: string; key: string }) => {
  const received: Received[] = []
  const answer = { status: 201, location: '', headers: {} as Record<string, string> }
  let heard: (() => void) | undefined
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks), path: request.url ?? '' })
      heard?.()
      const { status, location, headers } = answer
      response.writeHead(status, { ...headers, ...(location && { location }) }).end()
    })
  }
  const server = tls ? createTlsServer(tls, listener) : createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    received,
    /** Resolves with the next push that arrives. */
    heard: () => new Promise<void>((resolve) => (heard = resolve)),
    answer,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
export type PushService = Awaited<ReturnType<typeof startPushService>>

/** What a browser makes when it subscribes, and the private half that it keeps. */
export const subscribeBrowser = (endpoint: string) => {
  const own = createECDH('prime256v1')
  own.generateKeys()
  const auth = randomBytes(16)
  const keys = { p256dh: own.getPublicKey('base64url'), auth: auth.toString('base64url') }
  return { subscription: { endpoint, keys }, own, auth }
}

const derive = (ikm: Buffer, salt: Buffer, info: Buffer, length: number): Buffer =>
  Buffer.from(hkdfSync('sha256', ikm, salt, info, length))

/** RFC 8291, written from the standard and not with what encrypts: one record of aes128gcm. */
export const decryptPush = (body: Buffer, own: ECDH, auth: Buffer): string => {
  const salt = body.subarray(0, 16)
  const idLength = body[20]!
  const sender = body.subarray(21, 21 + idLength)
  const sealed = body.subarray(21 + idLength)
  const shared = own.computeSecret(sender)
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), own.getPublicKey(), sender])
  const ikm = derive(shared, auth, info, 32)
  const key = derive(ikm, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16)
  const nonce = derive(ikm, salt, Buffer.from('Content-Encoding: nonce\0'), 12)
  const cipher = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(sealed.subarray(-16))
  const padded = Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()])
  // The last record ends in 2 and zeros.
  return padded.subarray(0, padded.lastIndexOf(2)).toString()
}

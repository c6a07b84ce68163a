import { type IncomingMessage, type OutgoingHttpHeaders, request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import { checkPublicUrl, isOwnMachine, publicLookup } from './public-address.ts'

type PublicRequest = {
  url: string
  /** The field that holds the address, for a refusal. */
  field: string
  dev: boolean
  headers: OutgoingHttpHeaders
  body: Buffer
  signal: AbortSignal
}

/**
 * Posts to an address that somebody else chose. Connects to the address that it checked, follows no redirect, and
 * throws if there is no answer. The caller reads the answer with `readStart` or destroys it.
 */
export const requestPublic = async (request: PublicRequest): Promise<IncomingMessage> => {
  const { url: text, field, dev, headers, body, signal } = request
  checkPublicUrl(field, text, dev)
  const url = new URL(text)
  const lookup = isOwnMachine(url, dev) ? {} : { lookup: publicLookup }
  const send = url.protocol === 'https:' ? requestTls : requestPlain
  return new Promise((resolve, reject) => {
    send(url, { method: 'POST', headers, agent: false, signal, ...lookup }, resolve)
      .on('error', reject)
      .end(body)
  })
}

/** Reads a body until it has `most` bytes or `ms` are over, and ends the connection: a body may be endless, or slow. */
export const readStart = async (response: IncomingMessage, most: number, ms: number): Promise<Buffer> => {
  const timer = setTimeout(() => response.destroy(), ms)
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= most) break
    }
  } catch {
    // What has arrived counts.
  } finally {
    clearTimeout(timer)
    response.destroy()
  }
  return Buffer.concat(chunks).subarray(0, most)
}

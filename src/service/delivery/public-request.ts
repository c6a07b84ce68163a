import { type IncomingMessage, type OutgoingHttpHeaders, request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import { checkPublicUrl, isOwnMachine, type Networks, publicLookup } from './public-address.ts'

type PublicRequest = {
  url: string
  /** The field that holds the address, for a refusal. */
  field: string
  dev: boolean
  /** Private networks that it may reach. */
  networks?: Networks
  headers: OutgoingHttpHeaders
  body: Buffer
  signal: AbortSignal
}

/**
 * Posts to an address that somebody else chose. Connects to the address that it checked, follows no redirect, and
 * throws if there is no answer. The caller destroys the answer: its body may be endless, or slow.
 */
export const requestPublic = async (request: PublicRequest): Promise<IncomingMessage> => {
  const { url: text, field, dev, networks, headers, body, signal } = request
  checkPublicUrl(field, text, dev, networks)
  const url = new URL(text)
  const lookup = isOwnMachine(url, dev) ? {} : { lookup: publicLookup(networks) }
  const send = url.protocol === 'https:' ? requestTls : requestPlain
  return new Promise((resolve, reject) => {
    send(url, { method: 'POST', headers, agent: false, signal, ...lookup }, resolve)
      .on('error', reject)
      .end(body)
  })
}

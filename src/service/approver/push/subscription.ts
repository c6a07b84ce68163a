import { lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { approver } from '../../../contract/approver.ts'
import { isLoopbackHost } from '../../../core/loopback.ts'
import { invalid } from '../../../core/refusal.ts'
import type { HandlerOf } from '../../call/call.ts'
import { requirePerson } from '../../call/caller.ts'
import type { Keyring } from '../../call/keyring.ts'
import type { RowInput } from '../../call/row-ids.ts'

/** Whether an address is on the public internet. A page must not direct the service into its own network. */
const isPublic = (address: string): boolean =>
  ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast'

/** The host without the brackets of IPv6. */
const bareHost = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

/** Refuses with 422 an endpoint that is not on the public internet. With --dev, this machine is allowed too. */
export const checkEndpoint = (endpoint: string, dev: boolean): void => {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined
  if (!url) throw invalid('endpoint', 'must be a URL')
  if (dev && /^https?:$/.test(url.protocol) && isLoopbackHost(url.hostname)) return
  if (url.protocol !== 'https:' || url.username || url.password)
    throw invalid('endpoint', 'must be an https URL without a user name or password')
  if (isLoopbackHost(url.hostname) || (ipaddr.isValid(bareHost(url)) && !isPublic(bareHost(url))))
    throw invalid('endpoint', 'must be a URL on the public internet')
}

/** Resolves a host name, and fails if any of its addresses is not public. The connection uses the address it checked. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const unsafe = addresses?.find(({ address }) => !isPublic(address))
    const failure = error ?? (unsafe && new Error('the host is in a private network'))
    if (failure || !addresses[0]) return callback(failure ?? new Error('the host has no address'), '', 4)
    if (options.all) return callback(null, addresses)
    return callback(null, addresses[0].address, addresses[0].family)
  })
}

export type Subscription = RowInput<typeof approver.subscribePush>

const contextOf = (device_id: number) => `push_subscriptions:${device_id}` as const

const isBytes = (text: string, length: number): boolean => {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length === length && bytes.toString('base64url') === text
}

export const openSubscription = (
  { unwrap }: Pick<Keyring, 'unwrap'>,
  device_id: number,
  wrapped: string,
): Subscription => JSON.parse(unwrap(wrapped, contextOf(device_id))) as Subscription

/** Stores where the device at the page gets its notifications, and replaces its earlier subscription. */
export const subscribePush: HandlerOf<typeof approver.subscribePush> = async (input, call) => {
  const { org_id, device_id } = requirePerson(call.caller)
  checkEndpoint(input.endpoint, call.dev)
  if (!isBytes(input.keys.p256dh, 65)) throw invalid('keys.p256dh', 'must be a point of P-256 in base64url')
  if (!isBytes(input.keys.auth, 16)) throw invalid('keys.auth', 'must be 16 bytes in base64url')
  const values = {
    wrapped: call.keyring.wrap(JSON.stringify(input), contextOf(device_id)),
    created_at: call.now,
  }
  await call.db
    .insertInto('push_subscriptions')
    .values({ device_id, ...values })
    .onConflict((of) => of.column('device_id').doUpdateSet(values))
    .execute()
  await call.audit(org_id, `device:${device_id}`, ['notifications'])
  return undefined
}

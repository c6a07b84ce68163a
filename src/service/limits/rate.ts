import { setTimeout as wait } from 'node:timers/promises'
import { namedKeyOf, type Caller } from '../call.ts'
import { Refusal } from '../refusal.ts'
import type { Storage } from '../storage/storage.ts'
import { readLimit } from './values.ts'

type Rates = { key: number; organization: number }
type Policy = 'key' | 'organization'

/** Requests of one second; a second is told by its text. */
type Window = { second: string; used: number }

const secondOf = (now: string): string => now.slice(0, 19)

/** Structured fields as in draft-ietf-httpapi-ratelimit-headers-11; a window is one second of the clock. */
const headersOf = (rates: Rates, left: Rates): Record<string, string> => ({
  'ratelimit-policy': `"key";q=${rates.key};w=1, "organization";q=${rates.organization};w=1`,
  ratelimit: `"key";r=${left.key};t=1, "organization";r=${left.organization};t=1`,
})

const refused = (policy: Policy, orgId: number, rates: Rates, left: Rates): Refusal => {
  const limit = rates[policy]
  const quota = policy === 'key' ? 'key_requests_per_second' : 'requests_per_second'
  const who = policy === 'key' ? 'This key' : 'All keys of this organization together'
  return new Refusal(429, 'rate_limited', `${who} may make ${limit} requests in a second`, {
    hint: `Try again in 1 s. Only the operator of the service can raise the limit: svc org limits set --org ${orgId} --${quota.replaceAll('_', '-')} N`,
    headers: { ...headersOf(rates, left), 'retry-after': '1' },
    data: { quota, limit },
  })
}

/** Windows of so many keys and organizations are remembered; more than that are of seconds that have passed. */
const windowsAtMost = 10_000

/** A refusal is held back for so long, for so many requests of an organization at the same time. */
const holdMs = 100
const heldAtMost = 100

/** The headers of the answer. */
type Taken = Record<string, string> | Promise<Record<string, string>>

/**
 * Counts the requests of the keys of organizations, and of people at the approver page; the operator's are not limited.
 * Answers the headers that tell a client how much is left, at once where that is known. Fails with 429 `rate_limited`.
 */
export const createRate = ({ read, revision, now }: Pick<Storage, 'read' | 'revision' | 'now'>) => {
  const rates = new Map<number, Rates>()
  const windows = new Map<string, Window>()
  /** Refusals that are held back, by organization. */
  const held = new Map<number, number>()
  let ratesAt = -1

  const leftOf = (name: string, limit: number, second: string): number => {
    const window = windows.get(name)
    return window?.second === second ? limit - window.used : limit
  }

  const use = (name: string, second: string): void => {
    const window = windows.get(name)
    if (window?.second === second) window.used += 1
    else {
      if (windows.size >= windowsAtMost) windows.clear()
      windows.set(name, { second, used: 1 })
    }
  }

  /** A refusal is quickly made: a client that asks again at once would make the service do little else. */
  const refuse = async (refusal: Refusal, orgId: number): Promise<never> => {
    const waiting = held.get(orgId) ?? 0
    if (waiting >= heldAtMost) throw refusal
    held.set(orgId, waiting + 1)
    await wait(holdMs)
    const left = held.get(orgId)! - 1
    if (left === 0) held.delete(orgId)
    else held.set(orgId, left)
    throw refusal
  }

  const take = (caller: Caller, orgId: number, limit: Rates): Taken => {
    const second = secondOf(now())
    const { person } = caller
    const own = person ? `session ${person.session_id}` : `key ${namedKeyOf(caller)}`
    const all = `organization ${orgId}`
    const left = {
      key: leftOf(own, limit.key, second),
      organization: leftOf(all, limit.organization, second),
    }
    for (const policy of ['key', 'organization'] as const)
      if (left[policy] <= 0) return refuse(refused(policy, orgId, limit, left), orgId)
    use(own, second)
    use(all, second)
    return headersOf(limit, { key: left.key - 1, organization: left.organization - 1 })
  }

  const readRates = (orgId: number): Promise<Rates> => {
    const since = revision()
    return read(async (db) => {
      const found = {
        key: await readLimit(db, orgId, 'key_requests_per_second'),
        organization: await readLimit(db, orgId, 'requests_per_second'),
      }
      if (revision() === since && ratesAt === since) rates.set(orgId, found)
      return found
    })
  }

  return (caller: Caller): Taken => {
    const { orgId } = caller
    if (orgId === null || orgId < 0) return {}
    const current = revision()
    if (current !== ratesAt) rates.clear()
    ratesAt = current
    const known = rates.get(orgId)
    return known ? take(caller, orgId, known) : readRates(orgId).then((found) => take(caller, orgId, found))
  }
}
export type Rate = ReturnType<typeof createRate>

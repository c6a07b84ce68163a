import { setTimeout as wait } from 'node:timers/promises'
import { Refusal } from '../../core/refusal.ts'
import { type Caller, namedKeyOf } from '../call/caller.ts'
import type { Rate } from '../call/service.ts'
import type { Storage } from '../storage/storage.ts'
import { raiseHint, readLimit } from './values.ts'

/** Requests in a second, on average. */
type Rates = { key: number; organization: number }
type Policy = keyof Rates

/** What was left at a moment, in milliseconds. It grows by the rate, up to that of so many seconds: room for an import. */
type Bucket = { at: number; left: number }
const burstSeconds = 40

/** Buckets of so many keys and sessions are remembered; to forget one is to fill it. That of an organization stays. */
const bucketsAtMost = 10_000

const fill = <K>(buckets: Map<K, Bucket>, name: K, rate: number, at: number): Bucket => {
  const most = rate * burstSeconds
  const known = buckets.get(name)
  if (!known) {
    const full = { at, left: most }
    buckets.set(name, full)
    return full
  }
  // A clock that was set back gives nothing.
  const passed = Math.max(0, at - known.at) / 1000
  known.left = Math.min(most, known.left + passed * rate)
  known.at = at
  return known
}

/** A refusal is held back for so long, for so many requests of an organization at the same time. */
const holdMs = 100
const heldAtMost = 100

/** Structured fields as in draft-ietf-httpapi-ratelimit-headers-11; `t` is when all of it is there again. */
const headersOf = (rates: Rates, left: Rates): Record<string, string> => {
  const policies = ['key', 'organization'] as const
  const policy = policies.map((one) => `"${one}";q=${rates[one] * burstSeconds};w=${burstSeconds}`)
  const now = policies.map((one) => {
    const whole = Math.floor(left[one])
    return `"${one}";r=${whole};t=${Math.ceil((rates[one] * burstSeconds - whole) / rates[one])}`
  })
  return { 'ratelimit-policy': policy.join(', '), ratelimit: now.join(', ') }
}

const refusalOf = (policy: Policy, orgId: number, rates: Rates, left: Rates): Refusal => {
  const limit = rates[policy]
  const [who, quota] =
    policy === 'key'
      ? (['This key', 'key_requests_per_second'] as const)
      : (['All keys of this organization together', 'requests_per_second'] as const)
  return new Refusal(
    429,
    'rate_limited',
    `${who} may make ${limit} requests in a second, and ${limit * burstSeconds} at once`,
    {
      hint: `Try again in 1 s. ${raiseHint(orgId, quota)}`,
      headers: { ...headersOf(rates, left), 'retry-after': '1' },
      data: { quota, limit },
    },
  )
}

/**
 * Counts the requests of the keys of organizations, and of people at the approver page; the operator's are not limited.
 * Answers the headers that tell a client how much is left, at once where that is known. Fails with 429 `rate_limited`.
 */
export const createRate = ({ read, revision, now }: Pick<Storage, 'read' | 'revision' | 'now'>): Rate => {
  const rates = new Map<number, Rates>()
  const callers = new Map<string, Bucket>()
  const organizations = new Map<number, Bucket>()
  /** Refusals that are held back, by organization. */
  const held = new Map<number, number>()
  let ratesAt = -1

  /** A refusal is quickly made: a client that asks again at once would make the service do little else. */
  const refuse = async (refusal: Refusal, orgId: number): Promise<never> => {
    const waiting = held.get(orgId) ?? 0
    if (waiting >= heldAtMost) throw refusal
    held.set(orgId, waiting + 1)
    await wait(holdMs)
    const others = held.get(orgId)! - 1
    if (others === 0) held.delete(orgId)
    else held.set(orgId, others)
    throw refusal
  }

  const take = (caller: Caller, orgId: number, limit: Rates): ReturnType<Rate> => {
    const at = Date.parse(now())
    const { person } = caller
    const own = person ? `session ${person.session_id}` : `key ${namedKeyOf(caller)}`
    if (callers.size >= bucketsAtMost && !callers.has(own)) callers.clear()
    const key = fill(callers, own, limit.key, at)
    const organization = fill(organizations, orgId, limit.organization, at)
    const left = { key: key.left, organization: organization.left }
    for (const policy of ['key', 'organization'] as const)
      if (left[policy] < 1) return refuse(refusalOf(policy, orgId, limit, left), orgId)
    key.left -= 1
    organization.left -= 1
    return headersOf(limit, { key: key.left, organization: organization.left })
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

  return (caller) => {
    const { orgId } = caller
    if (orgId === null || orgId < 0) return {}
    const current = revision()
    if (current !== ratesAt) rates.clear()
    ratesAt = current
    const known = rates.get(orgId)
    return known ? take(caller, orgId, known) : readRates(orgId).then((found) => take(caller, orgId, found))
  }
}

import { setTimeout as wait } from 'node:timers/promises'
import { Refusal } from '../../core/refusal.ts'
import { createTally } from '../../core/tally.ts'
import { type Caller, namedKeyOf } from '../call/caller.ts'
import type { Rate } from '../call/service.ts'
import type { Storage } from '../storage/storage.ts'
import { raiseHint, readLimit } from './values.ts'
import type { Signals } from '../call/signals/signals.ts'

/** Requests per second, on average. */
type Rates = { key: number; organization: number }

/**
 * Of a session at the approver page. A page that starts makes a few calls, and a person who taps quickly two or three. Not of the
 * device: whoever stole its cookie could keep the person out, who signs in again.
 */
const sessionRate = 20

/**
 * What each of them has for calls that change one object, also if the others have used up what the organization has: no key keeps
 * the people of its organization from revoking it. With bursts of 10.
 */
const ownRate = 0.25

/** A token bucket: `left` requests at `at`, in milliseconds. The burst of 40 seconds gives an import room. */
type Bucket = { at: number; left: number; most: number }
const burstSeconds = 40

/** The most keys, owners and sessions that have a bucket. A dropped bucket starts full again; those of organizations stay. */
const bucketsAtMost = 10_000

/** It is full again within the time of a burst, however much was spent, on however many nodes. */
const spend = (bucket: Bucket, requests: number): void => {
  bucket.left = Math.max(bucket.left - requests, -bucket.most)
}

const fill = <K>(buckets: Map<K, Bucket>, name: K, rate: number, at: number): Bucket => {
  const most = rate * burstSeconds
  const known = buckets.get(name)
  if (!known) {
    const full = { at, left: most, most }
    buckets.set(name, full)
    return full
  }
  // A clock that was set back adds nothing.
  const passed = Math.max(0, at - known.at) / 1000
  known.left = Math.min(most, known.left + passed * rate)
  known.most = most
  known.at = at
  return known
}

/** How long a refusal is delayed, and for how many requests of an organization at the same time. */
const delayMs = 100
const delayedAtMost = 100

/** Who has a bucket of their own. All keys that a person confirmed share one, so that more keys do not mean more requests. */
type Whose = 'key' | 'owner' | 'device'

const whoseOf = ({ person, ownerConfirmed }: Caller): Whose =>
  person ? 'device' : ownerConfirmed === true ? 'owner' : 'key'

const nameOf = (caller: Caller): string => {
  if (caller.person) return `device ${caller.person.session_id}`
  return caller.ownerConfirmed === true
    ? `owner ${caller.orgId} ${caller.ownerId}`
    : `key ${namedKeyOf(caller)}`
}

const organizationOf = (orgId: number): string => `organization ${orgId}`

const isLimited = (orgId: number | null): orgId is number => orgId !== null && orgId >= 0

/** What is left of a rate, and the seconds until its bucket is full. */
const leftText = (rate: number, left: number): string => {
  const whole = Math.max(0, Math.floor(left))
  return `r=${whole};t=${Math.ceil((rate * burstSeconds - whole) / rate)}`
}

/** Structured fields as in draft-ietf-httpapi-ratelimit-headers-11. */
const headersOf = (rates: Rates, left: Rates, whose: Whose): Record<string, string> => ({
  'ratelimit-policy': `"${whose}";q=${rates.key * burstSeconds};w=${burstSeconds}, "organization";q=${rates.organization * burstSeconds};w=${burstSeconds}`,
  ratelimit: `"${whose}";${leftText(rates.key, left.key)}, "organization";${leftText(rates.organization, left.organization)}`,
})

/** What is limited, in words, and the quota that limits it. */
const limited = {
  organization: ['All keys of this organization together are', 'requests_per_second'],
  key: ['This key is', 'key_requests_per_second'],
  owner: ['All keys of one person together are', 'key_requests_per_second'],
  device: ['This device is', undefined],
} as const

const refusalOf = (
  policy: keyof Rates,
  orgId: number,
  limit: number,
  { headers, whose, left }: { headers: Record<string, string>; whose: Whose; left: number },
): Refusal => {
  // Of a call that counted as many, more than the next second brings.
  const seconds = Math.max(1, Math.ceil((1 - left) / limit))
  const [who, quota] = limited[policy === 'organization' ? policy : whose]
  return new Refusal(
    429,
    'rate_limited',
    `${who} limited to ${limit} request${limit === 1 ? '' : 's'} per second, with bursts of ${limit * burstSeconds}`,
    {
      hint: `Try again in ${seconds} s${quota === undefined ? '' : `. ${raiseHint(orgId, quota)}`}`,
      headers: { ...headers, 'retry-after': String(seconds) },
      data: { ...(quota !== undefined && { quota }), limit },
    },
  )
}

/** How often a node tells the others what was requested from it, and of how many callers in one message. */
const tellMs = 500
const toldAtMost = 100

/** Tells other nodes about requests, and calls `count` for theirs. Returns how to note a request. */
const shareRequests = (
  shared: boolean,
  { hear, tell }: Signals,
  count: (name: string, requests: number) => void,
) => {
  hear('requests', (requests) => {
    for (const [name, made] of Object.entries(requests)) count(name, made)
  })
  const made = new Map<string, number>()
  const tellAll = (): void => {
    const all = [...made]
    made.clear()
    for (let at = 0; at < all.length; at += toldAtMost)
      tell('requests', Object.fromEntries(all.slice(at, at + toldAtMost)))
  }
  return (names: string[], count: number): void => {
    if (!shared) return
    if (made.size === 0) setTimeout(tellAll, tellMs).unref()
    for (const name of names) made.set(name, (made.get(name) ?? 0) + count)
  }
}

/**
 * Limits the requests of an organization's keys and of people at the approver page, but not those of the operator.
 * Returns the headers that tell a client how much is left; synchronously if the limits are cached. Throws 429
 * `rate_limited`. Nodes tell each other about requests twice a second, so several nodes allow more for that long.
 */
export const createRate = (storage: Storage, signals: Signals): Rate => {
  const { read, recentRevision, now } = storage
  const rates = new Map<number, Rates>()
  const callers = new Map<string, Bucket>()
  const organizations = new Map<string, Bucket>()
  /** The number of delayed refusals, by organization. */
  const delayed = createTally<number>()
  let ratesAt = -1
  const reduce = (name: string, count: number): void => {
    const bucket = callers.get(name) ?? organizations.get(name)
    if (bucket) spend(bucket, count)
  }
  const noteRequests = shareRequests(storage.shared, signals, reduce)

  /** Delayed, because a client that retries in a tight loop would otherwise keep the service busy. */
  const refuse = async (refusal: Refusal, orgId: number): Promise<never> => {
    if (delayed.of(orgId) >= delayedAtMost) throw refusal
    delayed.add(orgId)
    await wait(delayMs)
    delayed.remove(orgId)
    throw refusal
  }

  /** Whether a caller has one of its own requests left; takes it. */
  const takeOwn = (name: string, at: number): boolean => {
    const bucket = fill(callers, `own ${name}`, ownRate, at)
    if (bucket.left < 1) return false
    spend(bucket, 1)
    return true
  }

  const take = (
    caller: Caller,
    orgId: number,
    own: Rates,
    changesMany: boolean,
  ): ReturnType<Rate['count']> => {
    const at = Date.parse(now())
    const whose = whoseOf(caller)
    const limit = whose === 'device' ? { ...own, key: Math.min(own.key, sessionRate) } : own
    const name = nameOf(caller)
    if (callers.size >= bucketsAtMost && !callers.has(name)) callers.clear()
    const key = fill(callers, name, limit.key, at)
    const organizationName = organizationOf(orgId)
    const organization = fill(organizations, organizationName, limit.organization, at)
    const left = { key: key.left, organization: organization.left }
    for (const policy of ['key', 'organization'] as const)
      if (left[policy] < 1) {
        if (policy === 'organization' && !changesMany && takeOwn(name, at)) continue
        const headers = headersOf(limit, left, whose)
        return refuse(refusalOf(policy, orgId, limit[policy], { headers, whose, left: left[policy] }), orgId)
      }
    spend(key, 1)
    spend(organization, 1)
    noteRequests([name, organizationName], 1)
    return headersOf(limit, { key: key.left, organization: organization.left }, whose)
  }

  const readRates = (orgId: number): Promise<Rates> => {
    const since = recentRevision()
    return read(async (db) => {
      const found = {
        key: await readLimit(db, orgId, 'key_requests_per_second'),
        organization: await readLimit(db, orgId, 'requests_per_second'),
      }
      if (recentRevision() === since && ratesAt === since) rates.set(orgId, found)
      return found
    })
  }

  return {
    count: (caller, changesMany = false) => {
      const { orgId } = caller
      if (!isLimited(orgId)) return {}
      const current = recentRevision()
      if (current !== ratesAt) rates.clear()
      ratesAt = current
      const known = rates.get(orgId)
      return known
        ? take(caller, orgId, known, changesMany)
        : readRates(orgId).then((found) => take(caller, orgId, found, changesMany))
    },
    add: (caller, requests) => {
      if (!isLimited(caller.orgId)) return
      const names = [nameOf(caller), organizationOf(caller.orgId)]
      for (const name of names) reduce(name, requests)
      noteRequests(names, requests)
    },
  }
}

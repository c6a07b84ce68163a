import { parseLine } from '../contract/approvers.ts'
import { SvcError } from '../core/errors.ts'
import { samePhone } from '../core/phone-parts.ts'
import type { ApprovalRecord } from '../contract/approval.ts'
import type { Ask } from '../contract/approval-gateway.ts'
import type { Expectations } from '../receipt/expectations.ts'
import { sentence } from '../receipt/sentence.ts'
import { digestOf, textSubject } from '../receipt/subject.ts'
import type { ReceiptVerification } from '../receipt/verify.ts'
import type { Surroundings } from './surroundings.ts'

/** Whose receipts count: the keys of the service, and what they must name. */
export type Trust = Pick<
  Expectations,
  'organization' | 'issuer' | 'passkeys' | 'allowDev' | 'allowUnseparated' | 'allowUnauthenticated'
> & { keys: unknown }

/** The organization of a request: as asked, as the service reports it, or as typed or configured. */
export const organizationOf = async (
  requests: readonly (Pick<Ask, 'org_id'> | undefined)[],
  { organization }: Pick<Surroundings, 'organization'>,
): Promise<string | undefined> => {
  // A tool server reports 0.
  const id = requests.map((one) => one?.org_id).find((one) => one)
  return id === undefined ? organization() : String(id)
}

/** The SHA-256 of what was asked; a text alone is a subject, too. */
export const digestOfAsk = ({ subject, action }: Pick<Ask, 'subject' | 'action'>): string =>
  digestOf((subject ?? textSubject(action)).data)

/** The verdict on a receipt or a set, at `now`. */
export const verdictOn = async (
  attestation: unknown,
  { keys, ...expected }: Trust & Expectations,
  now: number,
): Promise<ReceiptVerification> => {
  // Rarely needed, and large.
  const { verifyReceipt } = await import('../receipt/verify.ts')
  return verifyReceipt(attestation, keys, expected, new Date(now))
}

/**
 * What a receipt says about the requesting key and the device. It decides what an approval may be used for, and not whether the
 * person approved.
 */
const aboutInfluence = new Set(['enrollment', 'separation', 'authenticated requester'])

const unproved = ({ request_id }: ApprovalRecord, why: string): SvcError =>
  new SvcError('failed', 'unproved', `The service reports ${request_id} as approved and does not prove it`, {
    detail: `${why.replace(/[^.!?]$/, '$&.')} This is not an approval.`,
    hint: 'Check that this is the right service: svc profile show --explain',
  })

/** How the requester is about to use an approval. */
export type Use = {
  ask: Ask
  /** When the request was made, by the clock of the service; milliseconds. */
  since: number
  /** Accepts a key that can influence who approves. */
  allowUnseparated: boolean
  /** What the receipt must match, from files of this machine. Without it, the service names its own keys. */
  pinned?: Trust | undefined
}

/** A run can last, and ask many times. */
const mostAsks = 1_000

type Proving = {
  origin: string
  local: boolean
  now(): number
  /** Whether the id of a record is that of the service, so that the receipt must name it. */
  isNamed(request_id: string): boolean
}

/** Proves what one service reports as approved. Its word alone is no approval. */
export const createProver = (place: Proving, surroundings: Surroundings) => {
  const asks = new Map<string, Ask>()

  /** The keys of the service that was asked, and what its receipts must name. */
  const trustFor = async (record: ApprovalRecord, ask: Ask | undefined): Promise<Trust> => {
    const { issuerIn } = await import('../receipt/signature.ts')
    const keys = await surroundings
      .getJson(`${place.origin}/.well-known/jwks.json`)
      .catch((error: unknown) => {
        // A service that restarts is asked again; one without keys has none later either.
        const hasNone = error instanceof SvcError && /^(?:http_[34]\d\d|not_json)$/.test(error.code)
        throw hasNone ? unproved(record, `Its keys cannot be read: ${error.message}`) : error
      })
    return {
      keys,
      // Checked if known; a development service on this machine may leave it open.
      organization: await organizationOf([ask, record], surroundings),
      issuer: issuerIn(keys) ?? place.origin,
      // `--dev` listens on loopback only, so from elsewhere such a receipt is a forgery.
      allowDev: place.local,
      // The requester is known: it is this run.
      allowUnauthenticated: place.local,
    }
  }

  /**
   * Throws unless the receipt of an approved record is genuine, and for exactly what was asked. A request of another run must be
   * for what the record names. Before an approval is used, the key and the device must also be separated, and the receipt not
   * older than the request. Returns the id in the receipt: a tool that waits does not return the id of its request.
   */
  const prove = async (record: ApprovalRecord, use?: Use): Promise<string> => {
    const { attestation, request_id, subject, action, approver_mobile, cleared_at } = record
    const ask = use?.ask ?? asks.get(request_id)
    if (!attestation)
      throw unproved(
        record,
        cleared_at === undefined
          ? 'There is no receipt'
          : 'Its receipt was removed after the retention period',
      )
    const trust = use?.pinned ?? (await trustFor(record, ask))
    const at = place.now() + 1000
    const isNamed = place.isNamed(request_id)
    const expected = {
      ...trust,
      ...(use && { allowUnseparated: use.allowUnseparated }),
      ...(use?.ask.requester !== undefined && { requester: record.requester }),
      digest: digestOfAsk(ask ?? { action, subject: subject ?? undefined }),
      factors: ask?.factors,
      // Whoever reads about the request of another run sees that it broke the glass.
      allowBreakGlass: ask === undefined || ask.break_glass !== undefined,
      // A guard names its own people, who see each use.
      allowGrant: use?.pinned === undefined,
      // The people who were asked, and not whom the service names. If nobody was, whom a rule asks that everybody signed.
      ...(ask && { lines: (ask.approvers ?? []).map(parseLine) }),
      ...(isNamed && { requestId: request_id }),
      // Not an old receipt for the same action: it must be newer than the request.
      ...(use && !isNamed && { maxAgeS: (at - use.since) / 1000 + 5 }),
    }
    const verdict = await verdictOn(attestation, expected, at)
    if (use && !verdict.valid)
      throw new SvcError('failed', 'receipt_not_valid', 'The receipt is not valid, so nothing was done', {
        detail: sentence(verdict),
      })
    const { receipts, completion, use: granted } = verdict
    const isIgnored = (name: string): boolean =>
      aboutInfluence.has(name) || (name === 'expected organization' && trust.organization === undefined)
    const checks = verdict.checks.filter(({ name, ok }) => !ok && !isIgnored(name))
    if (checks.length > 0 || !receipts[0])
      throw unproved(record, sentence({ ...verdict, valid: false, checks }))
    const isMissing = (mobile: string): boolean =>
      receipts.every(({ sub }) => samePhone(mobile, sub) === false)
    const proved = granted ?? receipts[0]
    const isOther =
      // Of several people, a record names the first who was asked.
      (!completion && !granted && isMissing(approver_mobile)) || (!ask && proved.action !== action)
    if (isOther) throw unproved(record, 'Its receipt is for another person or action')
    return proved.jti
  }

  return {
    prove,
    /** Remembers what a new request is about. */
    asked: (ask: Ask, record: ApprovalRecord): ApprovalRecord => {
      if (asks.size >= mostAsks) asks.delete(asks.keys().next().value!)
      asks.set(record.request_id, ask)
      return record
    },
    /** The same record. Throws if it is approved without a genuine receipt for this request. */
    checked: async (record: ApprovalRecord): Promise<ApprovalRecord> => {
      if (record.status === 'approved') await prove(record)
      return record
    },
  }
}

import { fieldsIn, recordIn, rowsIn } from '../../client/answer-data.ts'
import { approval, type ApprovalRecord } from '../../contract/approval.ts'
import type { ApprovalLine } from '../../contract/approval-line.ts'
import { device } from '../../contract/device.ts'
import type { Data } from '../../contract/operation.ts'
import { user } from '../../contract/user.ts'
import { assert } from '../../client/software-authenticator.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { type ApprovalContext, challengeOf, contextBytes, readContext } from '../../receipt/context.ts'
import { readSubject, type Subject } from '../../receipt/subject.ts'
import type { Context } from '../context/context.ts'
import type { KeyFile } from '../context/key-file.ts'

/** A location that the person at the terminal typed, exact and current. */
export type ReportedLocation = { latitude: number; longitude: number; accuracy_m: 0; age_ms: 0 }

export type Decision = {
  decision: 'approve' | 'deny'
  not_me?: boolean
  /** With a denial: part of what is signed. */
  note?: string
  number?: string
  location?: ReportedLocation
  /** With an approval: also what the request offers as `grant`, which is part of what is signed. */
  grant?: true
}

const sameButDecision = (one: ApprovalContext, other: ApprovalContext): boolean =>
  JSON.stringify({ ...one, decision: '' }) === JSON.stringify({ ...other, decision: '' })

const dishonest = (what: string): SvcError =>
  new SvcError('failed', 'bad_ceremony', `The service asked for a signature over something else: ${what}`, {
    hint: 'Nothing was signed',
  })

const readable = (bytes: Uint8Array): ApprovalContext => {
  try {
    return readContext(bytes)
  } catch {
    throw dishonest('it is not an approval')
  }
}

const signed = (...[key, ceremony]: Parameters<typeof assert>) => {
  try {
    return assert(key, ceremony)
  } catch (error) {
    throw dishonest((error as Error).message)
  }
}

/** Reads the subject. It must match the signed digest. */
const subjectIn = (context: ApprovalContext, wire: Wire): Subject => {
  const { type, digest } = context.subject
  try {
    const subject = readSubject({ type: wire.subject?.type, data: wire.subject?.data, digest })
    if (subject.type === type) return subject
  } catch {
    // Reported below.
  }
  throw dishonest('the subject is not that of the request')
}

type Wire = Data<typeof device.getCeremony>

/** Lists pending requests, opens one and signs a decision, with a software authenticator. */
export const createSoftwareDevice = async ({ org_id, user_id, mobile, key }: KeyFile, context: Context) => {
  const { signal } = context.io
  const client = await context.client()

  const org = String(org_id)

  const hasAnswered = (one: ApprovalLine['people'][number]): boolean =>
    one.user_id === user_id && one.answer !== 'pending'

  const list = async (): Promise<ApprovalRecord[]> => {
    const input = { status: 'pending' as const, approver_mobile: mobile, org_id }
    const answer = await client.call(approval.listApprovals, input, { signal })
    // Oldest first, without those that wait only for others.
    return rowsIn(approval.listApprovals, answer)
      .toReversed()
      .filter(({ lines }) => !lines?.some(({ people }) => people.some(hasAnswered)))
  }

  /** Throws if nobody can be asked here any more. A key without `read` cannot find that out. */
  const requireMember = async (): Promise<void> => {
    const member = { orgId: org_id, userId: user_id }
    const found = await client.call(user.getUser, member, { signal }).catch(() => undefined)
    const state = found && fieldsIn(found).state
    if (typeof state === 'string' && state !== 'active')
      throw new SvcError(
        'refused',
        'not_a_member',
        `User ${user_id} is ${state} in organization ${org}, so nobody can ask them`,
        { hint: `svc user get ${shellQuote(user_id)} --org ${shellQuote(org)}` },
      )
  }

  const open = async (request_id: string) => {
    const answer = await client.call(
      device.getCeremony,
      { request_id, credential: key.credential_id },
      { signal },
    )
    const wire = recordIn(device.getCeremony, answer, ['contexts', 'credentials'])
    const { contexts, origin, rp_id, number_required, location_required, credentials } = wire
    const { verified_as, requested_from } = wire
    const bytes = {
      approve: new Uint8Array(Buffer.from(contexts.approve, 'base64url')),
      deny: new Uint8Array(Buffer.from(contexts.deny, 'base64url')),
    }
    const [approve, deny] = [readable(bytes.approve), readable(bytes.deny)]
    if (approve.decision !== 'approve' || deny.decision !== 'deny' || !sameButDecision(approve, deny))
      throw dishonest('approve and deny are not of one request')
    if (approve.request_id !== request_id) throw dishonest('another request')
    if (approve.approver.mobile !== mobile) throw dishonest('the request of another person')
    if (wire.lines?.some(({ people }) => people.some(hasAnswered)))
      throw new SvcError(
        'refused',
        'already_answered',
        'You have answered this request; it waits for others',
        {
          hint: `svc approve status ${shellQuote(request_id)}`,
        },
      )
    if (!credentials.includes(key.credential_id))
      throw new SvcError('forbidden', 'not_my_request', 'This authenticator cannot decide this request', {
        hint: `Check whether its device is active: svc user devices list ${shellQuote(user_id)} --org ${shellQuote(org)}. If it is revoked: svc user enroll ${shellQuote(user_id)} --org ${shellQuote(org)} --software --file NAME`,
      })
    const bytesOf = ({ decision, note, grant }: Decision): Uint8Array => {
      if (grant && wire.grant) return contextBytes({ ...approve, grant: wire.grant })
      return note === undefined ? bytes[decision] : contextBytes({ ...deny, note })
    }
    return {
      context: approve,
      /** The subject that the digest in the context belongs to. */
      subject: subjectIn(approve, wire),
      numberRequired: number_required,
      /** The requesting credential, as the service claims; the signed context contains only the requester's claim. */
      ...(typeof verified_as === 'string' && { verifiedAs: verified_as }),
      /** The address that the request came from, as the service claims. */
      ...(typeof requested_from === 'string' && { requestedFrom: requested_from }),
      /** Who must approve, with names and answers as the service claims. */
      lines: wire.lines,
      /** What can be allowed besides. */
      grant: wire.grant,
      /** An approval without a location would be denied. */
      locationRequired: location_required === true,
      decide: async (decided: Decision): Promise<ApprovalRecord> => {
        const challenge = challengeOf(bytesOf(decided))
        const response = signed(key, { challenge, origin, rpId: rp_id })
        const answer = await client.call(
          device.decideApproval,
          { request_id, ...decided, response },
          { signal },
        )
        return recordIn(device.decideApproval, answer, ['status'])
      },
    }
  }

  return { list, requireMember, open }
}

export type SoftwareDevice = Awaited<ReturnType<typeof createSoftwareDevice>>
/** A request as the approver signs it. The screen shows only these values. */
export type Ceremony = Awaited<ReturnType<SoftwareDevice['open']>>

/** Why the service would refuse this note; undefined if it is valid. */
export const noteProblem = (text: string): string | undefined => {
  const { error } = device.decideApproval.input.shape.note.safeParse(text)
  return error?.issues[0]?.message
}

/** Whether this is a number of degrees from -most to most. */
export const isDegrees = (text: string, most: number): boolean =>
  /^\s*[+-]?\d+(?:\.\d+)?\s*$/.test(text) && Math.abs(Number(text)) <= most

export const placeAt = (latitude: number, longitude: number): ReportedLocation => ({
  latitude,
  longitude,
  accuracy_m: 0,
  age_ms: 0,
})

const degrees = (flag: string, text: string, most: number): number => {
  if (!isDegrees(text, most)) throw usageError(`${flag} must be between -${most} and ${most}, not "${text}"`)
  return Number(text)
}

/** The location in --latitude and --longitude; undefined without either. */
export const readPlace = ({ latitude, longitude }: { latitude?: string; longitude?: string }) => {
  if (latitude === undefined && longitude === undefined) return undefined
  if (latitude === undefined) throw usageError('--longitude requires --latitude')
  if (longitude === undefined) throw usageError('--latitude requires --longitude')
  return placeAt(degrees('--latitude', latitude, 90), degrees('--longitude', longitude, 180))
}

import type { ApprovalRecord } from '../../contract/approval.ts'
import { refusedMark } from '../../contract/approval-state.ts'
import { addMs, dayMs } from '../../core/iso-time.ts'
import { forbidden, invalid, Refusal } from '../../core/refusal.ts'
import { verifyAssertion } from '../../receipt/assertion.ts'
import { challengeOf, contextBytes } from '../../receipt/context.ts'
import { createReceipt, type FactorResult } from '../../receipt/receipt.ts'
import { decide, type Decision, type FactorDecision } from '../../factors/decide.ts'
import type { Location } from '../../factors/location.ts'
import { cannotTell } from '../../factors/verdict.ts'
import type { Call, Outside } from '../call/call.ts'
import type { RowInput } from '../call/row-ids.ts'
import type { FactorsMemory } from '../call/service.ts'
import { credentialOf, type DeviceRow } from '../devices/rows.ts'
import type { Site } from '../devices/site.ts'
import { withRequested } from '../policy/factor-settings.ts'
import type { VerifiedDecision } from './answer.ts'
import { termsGranted } from './grants.ts'
import { countWrongNumber, finishApproval } from './finish.ts'
import { alreadyEnded, isRepeated, repeatedOutcome } from './posted-decision.ts'
import { findBallot } from './ballots.ts'
import type { ApprovalRow, BallotRow } from './rows.ts'
import { contextFor, findApproval, storedSubject, toApprovalRecord } from './record.ts'
import { checkDecider, readDeviceClaim } from './separation.ts'

/** A decision as it was posted, with the request and the device that it names; nothing is verified yet. */
export type PostedDecision = {
  row: ApprovalRow
  ballot: BallotRow
  device: DeviceRow
  site: Site
  decidedAt: string
  /** Identifies it, with its signature. */
  digest: string
  /** Whether the organization accepts denials from devices that did not verify their user. */
  presence: boolean
}

type DecisionInput = RowInput<'decideApproval'>

/** When the phone measured it, by our clock. Any age over a day is too old, and a huge one would not be a date. */
const locationAt = ({ age_ms, ...place }: NonNullable<DecisionInput['location']>, at: string): Location => ({
  ...place,
  at: addMs(at, -Math.min(age_ms, dayMs)),
})

/** A default factor that there is nothing to check against is reported, so that nobody takes it as checked. */
const uncheckedDefault = (
  { unchecked_factors }: PostedDecision['row'],
  decided: FactorDecision,
): FactorDecision => {
  const unchecked = JSON.parse(unchecked_factors ?? '[]') as string[]
  if (decided.policy !== null || !unchecked.includes(decided.factor)) return decided
  const { factor } = decided
  return { factor, policy: 'report_only', ...cannotTell('not checked: there is nothing to check it against') }
}

const applyRules = async (
  factorsFor: FactorsMemory,
  { row, ballot, device, decidedAt: at }: PostedDecision,
  location: DecisionInput['location'],
  { ip, user_verified }: { ip: string | undefined; user_verified: boolean },
): Promise<Decision> => {
  const rules = await factorsFor(row.org_id, ballot.user_id)
  const decided = decide(withRequested(rules, JSON.parse(row.factors) as (typeof rules.required)[number][]), {
    at,
    user_id: ballot.user_id,
    ...(ip !== undefined && { ip }),
    ...(location && { location: locationAt(location, at) }),
    device: { id: device.id, registered_to: device.user_id, revoked: device.state !== 'active' },
    biometric: { user_verified },
  })
  return { ...decided, factors: decided.factors.map((one) => uncheckedDefault(row, one)) }
}

/** A holder of the receipt knows the signature too, so a repeat says nothing of a later use. */
const answered = (call: Call, ended: ApprovalRow | Refusal): ApprovalRecord | Refusal =>
  ended instanceof Refusal ? ended : { ...toApprovalRecord(ended, call), used_at: null }

/**
 * Answers a decision that was counted already. Nothing is verified again: it is, to the byte, the one that was. The device may
 * have been removed since.
 */
export const repeatDecision =
  ({ decision }: DecisionInput, { row, ballot: { user_id }, digest }: PostedDecision) =>
  async (call: Call): Promise<ApprovalRecord | Refusal> => {
    const now = await findApproval(call.db, row.request_id, { orgId: row.org_id })
    const ballot = await findBallot(call.db, now, user_id)
    // A second wrong number may have been counted since.
    return answered(
      call,
      isRepeated(ballot, digest)
        ? await repeatedOutcome(call, { row: now, ballot }, decision)
        : alreadyEnded(now),
    )
  }

/**
 * Verifies an assertion over the context of a request, applies the rules and signs the receipt, all outside of the
 * transaction. The function that it returns ends the request in one conditional statement.
 */
export const prepareDecision = async (
  input: DecisionInput,
  { service, ip }: Outside,
  posted: PostedDecision,
): Promise<(call: Call) => Promise<ApprovalRecord | Refusal>> => {
  const approving = input.decision === 'approve'
  if (input.not_me && approving)
    throw invalid('not_me', 'can only be combined with decision deny', 'leave not_me out, or deny')
  if (input.note !== undefined && approving)
    throw invalid('note', 'can only be combined with decision deny', 'leave note out, or deny')
  const { storage, publicUrl, keyring, dev } = service
  const grant = termsGranted(posted.row, input)
  const { row, ballot, device, site, decidedAt } = posted
  const context = contextBytes(contextFor(row, ballot, input.decision, { note: input.note, grant }))
  const { presence } = posted
  const checked = verifyAssertion(input.response, credentialOf(device), site, challengeOf(context), {
    presence: presence && !approving && !input.not_me,
  })
  if (!checked.ok)
    throw forbidden(
      'assertion_refused',
      `The signature of the device is not valid: ${checked.problem}`,
      'Sign the context that the service returns for this request and this decision',
    )
  if (device.kind === 'software' && !dev)
    throw forbidden('software_not_allowed', 'A software key can decide only if the service runs with --dev')

  const claim = await storage.read(async (db) => {
    const claim = await readDeviceClaim({ db, keyring }, row, device)
    if (approving) await checkDecider({ db, keyring }, { row, ballot }, claim)
    return claim
  })
  const { allow, factors } = await applyRules(service.factorsFor, posted, input.location, {
    ip: ip?.(),
    user_verified: checked.user_verified,
  })
  const decision: VerifiedDecision = {
    row,
    ballot,
    device,
    counter: checked.counter,
    backedUp: checked.backed_up,
    decidedAt,
    input,
    ruling: factors.filter(({ policy }) => policy !== null) as FactorResult[],
    attestation: null,
    digest: posted.digest,
  }
  if (approving && row.number !== null && input.number !== row.number) {
    if (input.number === undefined)
      throw invalid('number', 'is required: type the number that the requester shows')
    return async (call) => answered(call, await countWrongNumber(call, decision))
  }
  // A request that has ended gets no receipt.
  const open = row.status === 'pending' && ballot.status === 'pending' && row.expires_at > decidedAt
  if (open && (allow || !approving))
    decision.attestation = await createReceipt(
      {
        issuer: publicUrl,
        decidedAt: new Date(decidedAt),
        context,
        evidence: checked.evidence,
        factors: decision.ruling,
        number_matched: row.number === null ? null : approving,
        dev: device.kind === 'software',
        subject: storedSubject(row)!,
        device: claim,
        influences: row.key_influences === 1,
      },
      keyring.sign,
    )
  const failed = factors.filter(({ policy, result }) => policy === 'required' && result !== 'PASS')
  const reasons = failed.map(({ factor, reason }) => `${factor}: ${reason}`).join('; ')
  const refused = approving && !allow ? `${refusedMark}: ${reasons}` : undefined
  return async (call) => answered(call, await finishApproval(call, decision, refused))
}

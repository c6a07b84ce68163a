import type { ApprovalRecord } from '../../contract/approval.ts'
import type { device } from '../../contract/device.ts'
import { addMs } from '../../core/iso-time.ts'
import { invalid, Refusal } from '../../core/refusal.ts'
import { verifyAssertion } from '../../receipt/assertion.ts'
import { challengeOf, contextBytes } from '../../receipt/context.ts'
import { createReceipt, type FactorResult } from '../../receipt/receipt.ts'
import { decide, type Decision } from '../../rules/decide.ts'
import type { Location } from '../../rules/location.ts'
import type { Call, Outside } from '../call/call.ts'
import type { RowInput } from '../call/row-ids.ts'
import type { RulesMemory } from '../call/service.ts'
import { credentialOf, type DeviceRow } from '../devices/rows.ts'
import type { Site } from '../devices/site.ts'
import { withAsked } from '../policy/rules.ts'
import { countWrongNumber, finishApproval, type VerifiedDecision } from './finish.ts'
import { answered, type ApprovalRow, contextOf, subjectOfRow } from './record.ts'
import { checkDecider, readDeviceClaim } from './separation.ts'

/** A decision as it was posted: who says that they decide what, before anything is verified. */
export type Posted = { row: ApprovalRow; device: DeviceRow; site: Site; decidedAt: string }

type Decided = RowInput<typeof device.decideApproval>

const day = 24 * 60 * 60_000

/** When the phone measured it, by our clock. An age beyond a day is that of a day: both are too old, and one is no date. */
const locationAt = ({ age_ms, ...place }: NonNullable<Decided['location']>, at: string): Location => ({
  ...place,
  at: addMs(at, -Math.min(age_ms, day)),
})

const rulingOf = async (
  rulesFor: RulesMemory,
  row: ApprovalRow,
  evidence: { at: string; ip: string | undefined; device: DeviceRow; location: Decided['location'] },
): Promise<Decision> => {
  const rules = await rulesFor(row.org_id, row.user_id)
  const { at, ip, device, location } = evidence
  return decide(withAsked(rules, JSON.parse(row.factors) as (typeof rules.required)[number][]), {
    at,
    user_id: row.user_id,
    ...(ip !== undefined && { ip }),
    ...(location && { location: locationAt(location, at) }),
    device: { id: device.id, registered_to: device.user_id, revoked: device.state !== 'active' },
    // `verifyAssertion` refuses everything else.
    biometric: { user_verified: true },
  })
}

const failedOf = ({ factors }: Decision): string =>
  factors
    .filter(({ policy, result }) => policy === 'required' && result !== 'PASS')
    .map(({ factor, reason }) => `${factor}: ${reason}`)
    .join('; ')

const factorResults = ({ factors }: Decision): FactorResult[] =>
  factors.filter(({ policy }) => policy !== null) as FactorResult[]

const checkInput = ({ decision, not_me }: Decided): void => {
  if (not_me && decision === 'approve')
    throw invalid('not_me', 'goes with decision deny only', 'leave not_me out, or deny')
}

/**
 * Verifies an assertion over the context of a request, applies the rules and signs the receipt, all outside of the
 * transaction; what it answers ends the request in one conditional statement. The open route of the approver's device.
 */
export const prepareDecision = async (
  input: Decided,
  { service, ip }: Outside,
  { row, device, site, decidedAt }: Posted,
): Promise<(call: Call) => Promise<ApprovalRecord | Refusal>> => {
  checkInput(input)
  const { storage, publicUrl, keyring, dev } = service
  const context = contextBytes(contextOf(row, input.decision))
  const checked = await verifyAssertion(input.response, credentialOf(device), site, challengeOf(context))
  if (!checked.ok)
    throw new Refusal(
      403,
      'assertion_refused',
      `The signature of the device does not count: ${checked.problem}`,
      {
        hint: 'Sign the context that the service gives for this request and this decision',
      },
    )
  if (device.kind === 'software' && !dev)
    throw new Refusal(
      403,
      'software_not_allowed',
      'A software key decides only where the service runs with --dev',
    )

  const approving = input.decision === 'approve'
  const claim = await storage.read(async (db) => {
    const claim = await readDeviceClaim({ db, keyring }, row, device)
    if (approving) await checkDecider(db, row, claim)
    return claim
  })
  const ruling = await rulingOf(service.rulesFor, row, {
    at: decidedAt,
    ip: ip?.(),
    device,
    location: input.location,
  })
  const verdict: VerifiedDecision = {
    row,
    device,
    counter: checked.counter,
    decidedAt,
    input,
    ruling: factorResults(ruling),
    attestation: null,
  }
  if (approving && row.number !== null && input.number !== row.number) {
    if (input.number === undefined)
      throw invalid('number', 'is required: type the number that the requester shows')
    return (call) => countWrongNumber(call, verdict)
  }
  // Nobody gets a proof of what cannot be decided any more.
  const open = row.status === 'pending' && row.expires_at > decidedAt
  if (open && (ruling.allow || !approving))
    verdict.attestation = await createReceipt(
      {
        issuer: publicUrl,
        decidedAt: new Date(decidedAt),
        context,
        evidence: checked.evidence,
        factors: verdict.ruling,
        number_matched: row.number === null ? null : approving,
        dev: device.kind === 'software',
        subject: subjectOfRow(row)!,
        device: claim,
        influences: row.key_influences === 1,
      },
      keyring.sign,
    )
  const refused = approving && !ruling.allow ? `refused by the rules: ${failedOf(ruling)}` : undefined
  return async (call) => {
    const ended = await finishApproval(call, verdict, refused)
    return ended instanceof Refusal ? ended : answered(ended, call.caller)
  }
}

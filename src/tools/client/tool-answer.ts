import { approvalStates } from '../../contract/approval-state.ts'
import type { ApprovalRecord } from '../../contract/approval.ts'
import { type SvcError, unexpectedAnswer } from '../../core/errors.ts'
import { isRecord } from '../../core/is-record.ts'
import { parseJson } from '../../core/parse-json.ts'
import { samePhone } from '../../core/phone-parts.ts'
import { safeLine } from '../../core/safe-text.ts'
import { shellQuote } from '../../core/shell-quote.ts'

// Reads the answers of the three tools of another server. Anything ambiguous is an error.

export type ToolAnswer = Record<string, unknown>

export const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** An answer that does not show what was decided. */
const unclear = (message: string, id: string | null): SvcError =>
  unexpectedAnswer(message, {
    detail: 'It is not known whether the request was approved.',
    hint: id === null ? undefined : `svc approve status ${shellQuote(id)} --mcp`,
  })

export const stateOf = ({ status, request_id }: ToolAnswer): ApprovalRecord['status'] => {
  const state = approvalStates.find((one) => one === status)
  if (state) return state
  const word = typeof status === 'string' ? `the status "${safeLine(status.slice(0, 40))}"` : 'no status'
  throw unclear(`The tool server reports ${word}, which svc does not know`, text(request_id))
}

export const otherRequest = (id: string | null): SvcError =>
  unclear('The tool server answered about another request', id)

/** The state of this request from `check_status`. Throws if it is missing or unknown, or may be that of another request. */
export const statusIn = (answer: ToolAnswer, expected: string): ApprovalRecord['status'] => {
  const { request_id } = answer
  if (request_id === expected) return stateOf(answer)
  if (request_id !== undefined) throw otherRequest(expected)
  throw unclear('The tool server answered without the id of the request', expected)
}

/** Whether two numbers can be the same; one of them may be masked, such as +1••••••0101. */
const canBeSame = (one: string, other: string): boolean => {
  const [masked, whole] = /[*•]/.test(one) ? [one, other] : [other, one]
  if (!/[*•]/.test(masked)) return samePhone(one, other) ?? one === other
  const visible = masked.split(/[*•]/).map((part) => part.trim())
  const digits = whole.replace(/[\s().-]/g, '')
  return digits.startsWith(visible[0]!) && digits.endsWith(visible.at(-1)!)
}

const requireApprover = (answer: ToolAnswer, asked: string): void => {
  const { approver_mobile: shown = null } = answer
  if (shown === null || shown === '' || asked === '') return
  if (typeof shown === 'string' && canBeSame(shown, asked)) return
  throw unclear('The tool server answered about another approver', text(answer.request_id))
}

const requireRequest = (part: ToolAnswer, status: unknown, id: string | null): void => {
  const named = part.request_id ?? part.jti ?? id
  if (named !== id && id !== null) throw otherRequest(id)
  if ('status' in part && part.status !== status)
    throw unclear('The tool server contradicts its own attestation', id)
}

/**
 * Throws if an answer, or the attestation in it, is about another request, approver or decision than this one.
 * `expected` is the id of the request, if it is known.
 */
export const requireAbout = (answer: ToolAnswer, asked: string, expected?: string): void => {
  const { status, attestation } = answer
  const id = expected ?? text(answer.request_id)
  requireApprover(answer, asked)
  const receipt: ToolAnswer = isRecord(attestation) ? { ...receiptOf(attestation) } : {}
  for (const part of [receipt, receipt.claims].filter(isRecord)) {
    const approver = isRecord(part.approver) ? part.approver.mobile : part.approver
    requireApprover({ approver_mobile: part.approver_mobile ?? approver ?? part.sub }, asked)
    requireRequest(part, status, id)
  }
  // Each receipt of a set is of another person, and that of a grant is of an earlier request.
  for (const part of receipt.format === 'grant' ? [receipt.use] : partsOf(receipt))
    requireRequest(isRecord(part) && isRecord(part.claims) ? part.claims : {}, status, id)
}

/** The id of a new request, which must still be pending. */
export const readNewRequestId = (answer: ToolAnswer): string => {
  const id = text(answer.request_id)
  if (!id) throw unclear('The tool server asked the person, but returned no request id', null)
  if (stateOf(answer) !== 'pending')
    throw unclear('The tool server reports a decision before the person can have made one', id)
  return id
}

const isJws = (value: unknown): boolean =>
  isRecord(value) && value.format === 'jws' && typeof value.jws === 'string'

/** What is signed in a set, or in a use of a grant; nothing of anything else. */
const partsOf = ({ format, receipts, completion, use, receipt }: ToolAnswer): ToolAnswer[] => {
  if (format === 'grant') return [use, receipt].filter(isRecord)
  return format === 'set' && Array.isArray(receipts)
    ? [...(receipts as unknown[]), completion].filter(isRecord)
    : []
}

/** Whether an attestation has the form of those of svc. The specification does not show its contents. */
export const isReceipt = (attestation: unknown): boolean =>
  isJws(attestation) ||
  (isRecord(attestation) && partsOf(attestation).length > 1 && partsOf(attestation).every(isJws))

const withClaims = (receipt: ToolAnswer): ToolAnswer => {
  if (typeof receipt.jws !== 'string' || receipt.claims !== undefined) return receipt
  const claims = parseJson(Buffer.from(receipt.jws.split('.')[1] ?? '', 'base64url').toString())
  return claims === undefined ? receipt : { ...receipt, claims }
}

/** An attestation with the claims next to each JWS, as in the records of the service. The tools leave them out. */
export const receiptOf = (attestation: unknown): ApprovalRecord['attestation'] => {
  if (!isRecord(attestation)) return null
  if (!isReceipt(attestation) || attestation.format === 'jws')
    return withClaims(attestation) as ApprovalRecord['attestation']
  const { use, receipt, receipts, completion } = attestation as Record<string, ToolAnswer>
  const parts =
    attestation.format === 'grant'
      ? { use: withClaims(use!), receipt: withClaims(receipt!) }
      : {
          receipts: (receipts as unknown as ToolAnswer[]).map(withClaims),
          completion: withClaims(completion!),
        }
  return { ...attestation, ...parts } as ApprovalRecord['attestation']
}

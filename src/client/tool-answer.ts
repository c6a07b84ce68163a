import { approvalStates } from '../contract/approval-state.ts'
import type { ApprovalRecord } from '../contract/approval.ts'
import { SvcError } from '../core/errors.ts'
import { safeLine } from '../core/safe-text.ts'
import { shellQuote } from '../core/shell-quote.ts'

// Reads the answers of the three tools of another server. Anything ambiguous is an error.

export type ToolAnswer = Record<string, unknown>

export const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** An answer that does not show what was decided. */
const unclear = (message: string, id: string | null): SvcError =>
  new SvcError('failed', 'unexpected_answer', message, {
    detail: 'It is not known whether the request was approved.',
    hint: id === null ? undefined : `svc approve status ${shellQuote(id)} --mcp`,
  })

export const stateOf = ({ status, request_id }: ToolAnswer): ApprovalRecord['status'] => {
  const state = approvalStates.find((one) => one === status)
  if (state) return state
  const word = typeof status === 'string' ? `the status "${safeLine(status.slice(0, 40))}"` : 'no status'
  throw unclear(`The tool server reports ${word}, which svc does not know`, text(request_id))
}

/** An answer about another request, or without a request id, is not usable. */
const requireSame = ({ request_id }: ToolAnswer, expected: string): void => {
  if (request_id === expected) return
  const wrong = request_id === undefined ? 'without the id of the request' : 'about another request'
  throw unclear(`The tool server answered ${wrong}`, expected)
}

/** The state of this request from `check_status`. Throws if it is missing or unknown. */
export const statusIn = (answer: ToolAnswer, expected: string): ApprovalRecord['status'] => {
  requireSame(answer, expected)
  return stateOf(answer)
}

/** The id of a new request, which must still be pending. */
export const readNewRequestId = (answer: ToolAnswer): string => {
  const id = text(answer.request_id)
  if (!id) throw unclear('The tool server asked the person, but returned no request id', null)
  if (stateOf(answer) !== 'pending')
    throw unclear('The tool server reports a decision before the person can have made one', id)
  return id
}

/** A receipt with the claims next to the JWS, as in the records of the service. The tools leave them out. */
export const receiptOf = (attestation: unknown): ApprovalRecord['attestation'] => {
  if (typeof attestation !== 'object' || attestation === null) return null
  const receipt = attestation as NonNullable<ApprovalRecord['attestation']>
  if (typeof receipt.jws !== 'string' || receipt.claims !== undefined) return receipt
  try {
    const payload = Buffer.from(receipt.jws.split('.')[1] ?? '', 'base64url').toString()
    return { ...receipt, claims: JSON.parse(payload) as ToolAnswer }
  } catch {
    return receipt
  }
}

/** What a tool is called with for this. */

import { approvalStates } from '../contract/approval-state.ts'
import type { ApprovalRecord } from '../contract/approval.ts'
import { SvcError } from '../core/errors.ts'
import { safeLine } from '../core/safe-text.ts'
import { shellQuote } from '../core/shell-quote.ts'

// What the answers of the three tools of another server mean. Whatever is not clearly an answer is an error.

export type Said = Record<string, unknown>

export const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** An answer from which nobody can tell what was decided. */
const unclear = (message: string, id: string | null): SvcError =>
  new SvcError('failed', 'unexpected_answer', message, {
    detail: 'Whether it was approved is not known.',
    hint: id === null ? undefined : `svc approve status ${shellQuote(id)} --mcp`,
  })

export const stateOf = ({ status, request_id }: Said): ApprovalRecord['status'] => {
  const state = approvalStates.find((one) => one === status)
  if (state) return state
  const word = typeof status === 'string' ? `the status "${safeLine(status.slice(0, 40))}"` : 'no status'
  throw unclear(`The tool server reports ${word}, which svc does not know`, text(request_id))
}

/** What a tool says of another request than the one it was asked about, or of one it does not name, says nothing. */
const requireSame = ({ request_id }: Said, asked: string): void => {
  if (request_id === asked) return
  const wrong = request_id === undefined ? 'without the ID of the request' : 'about another request'
  throw unclear(`The tool server answered ${wrong}`, asked)
}

/** The state that `check_status` reports of the request it was asked about. Fails where it reports none that is known. */
export const statusIn = (said: Said, asked: string): ApprovalRecord['status'] => {
  requireSame(said, asked)
  return stateOf(said)
}

/** The id of a request that was just made, which nobody can have decided yet. */
export const openedBy = (said: Said): string => {
  const id = text(said.request_id)
  if (!id) throw unclear('The tool server asked the person, but does not name the request', null)
  if (stateOf(said) !== 'pending')
    throw unclear('The tool server reports a decision before the person can have made one', id)
  return id
}

/** A receipt with its claims beside the JWS, as the record of the service has it. The tools leave them out. */
export const receiptOf = (attestation: unknown): ApprovalRecord['attestation'] => {
  if (typeof attestation !== 'object' || attestation === null) return null
  const receipt = attestation as NonNullable<ApprovalRecord['attestation']>
  if (typeof receipt.jws !== 'string' || receipt.claims !== undefined) return receipt
  try {
    const payload = Buffer.from(receipt.jws.split('.')[1] ?? '', 'base64url').toString()
    return { ...receipt, claims: JSON.parse(payload) as Said }
  } catch {
    return receipt
  }
}

/** What a tool is called with for this. */

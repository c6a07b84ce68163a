import { SvcError } from '../../../core/errors.ts'
import { safeLine } from '../../../core/safe-text.ts'
import type { Fields, Id, ToolCall } from './message.ts'

// What the client gets from the gate itself. A model reads the texts, so they say what happened and what not to do.

const lineOf = (message: Fields): string => JSON.stringify({ jsonrpc: '2.0', ...message })

export const errorLine = (id: Id | null, code: number, message: string): string =>
  lineOf({ id, error: { code, message } })

/** The request is not valid; JSON-RPC. */
export const invalidRequest = -32600
/** The server failed; JSON-RPC. */
export const serverError = -32603

/** The result of a call that was not carried out. */
export const refusedCallLine = ({ id, envelope }: Pick<ToolCall, 'id' | 'envelope'>, text: string): string =>
  lineOf({
    id,
    result: {
      content: [{ type: 'text', text }],
      isError: true,
      // Required in a protocol that describes the client in each request.
      ...(Object.keys(envelope).length > 0 && { resultType: 'complete' }),
    },
  })

export const progressLine = (progressToken: Id, step: number, message: string): string =>
  lineOf({
    method: 'notifications/progress',
    // Small, because the progress of the server follows and has to be larger.
    params: { progressToken, progress: step / 1_000_000, message },
  })

const noOtherWay = 'Do not try to reach the same result in another way.'

const because = (text: string | undefined): string => (text ? ` ${safeLine(text).replace(/\.$/, '')}.` : '')

export const pendingText = (
  tool: string,
  { until, number }: { until: string; number: string | null },
): string =>
  `Not done yet. This call of ${tool} waits for the approval of a person until ${until}. ` +
  `${number === null ? '' : `Show the user this number, which the person has to type: ${safeLine(number)}. `}` +
  `Call ${tool} again with exactly the same arguments to keep waiting. ${noOtherWay}`

/** A call that a rule lets pass requires nobody, so its text names nobody. */
export const failedText = (tool: string, error: SvcError, action: 'hold' | 'pass' = 'hold'): string =>
  `Not done. ${action === 'pass' ? '' : `This call of ${tool} requires the approval of a person, and svc could not get it: `}` +
  `${safeLine(error.message).replace(/^approvers /, 'to in the file of the gate ')}.${because(error.detail)} Tell the user. ${noOtherWay}`

export const unknownOutcomeText = (tool: string): string =>
  `The server ended before it answered this call of ${tool}. It is not known whether the call was carried out. Tell the user.`

/** The text for a call that was held and not approved. */
export const notApprovedText = (tool: string, error: unknown): string => {
  if (!(error instanceof SvcError))
    return failedText(tool, new SvcError('failed', 'internal', 'Something went wrong inside svc'))
  const asked = `Not done. A person was asked to approve this call of ${tool} and`
  if (error.code === 'denied')
    return `${asked} denied it.${because(error.detail)} Do not call it again, and tell the user. ${noOtherWay}`
  if (error.code === 'expired')
    return `${asked} did not decide in time.${because(error.detail)} Ask the user whether to try again. ${noOtherWay}`
  return failedText(tool, error)
}

import { silent } from '../../asking/progress.ts'
import { SvcError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import { withFullStop } from '../../core/sentence.ts'
import type { Subject } from '../../receipt/subject.ts'
import type { Context } from '../context/context.ts'
import { inTypedNames } from '../operation/typed-names.ts'
import { gatherAsk, hookOperation } from './ask.ts'

/** A tool call that an agent wants to make. `server` is where the tool is. */
export type ToolCall = {
  server: string
  tool: string
  input: Record<string, unknown>
  cwd?: string | undefined
}

export const nothingRan = 'the call did not run'

/** JSON.parse rounds such a number, so the person would approve another one than the tool gets. */
const isRounded = (value: unknown): boolean => {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(isRounded)
}

/** What the person approves: the server, the tool, its arguments and the folder. */
const subjectOf = async ({ server, tool, input, cwd }: ToolCall): Promise<Subject> => {
  const { subjectFor } = await import('../../asking/subject.ts')
  const refusal = (why: string): SvcError =>
    new SvcError('failed', 'tool_call', `A call of ${safeLine(tool)} cannot be shown to a person: ${why}`)
  const parameters = cwd === undefined ? {} : { parameters: { cwd } }
  const data = { server, tool, arguments: input, ...parameters }
  const subject = subjectFor({ type: 'tool_call', data }, refusal)
  if (isRounded(input)) throw refusal('a number in it is too large')
  return subject
}

/** The flags for the request, as commander reads them. */
export type CallOptions = { org?: string } & Record<string, unknown>

/** Asks a person about a call, and calls `requested` once the service has taken the request. Returns the id of the approval, which was used up; throws in every other case. */
export const approveToolCall = async (
  call: ToolCall,
  options: CallOptions,
  context: Context,
  requested: () => void,
): Promise<string> => {
  const subject = await subjectOf(call)
  try {
    const request = await gatherAsk(hookOperation, { args: [], options }, context, subject)
    const { ask } = await import('../../asking/ask.ts')
    const { openBackend } = await import('./open-backend.ts')
    const { separated } = await import('./separation.ts')
    const { approvers, ...wanted } = request
    const { signal } = context.io
    const { warn } = await context.output()
    const backend = await openBackend(context, { through: 'service', org: options.org })
    const approval = await ask(
      wanted,
      { approvers },
      {
        backend,
        // Nobody reads the output while a call waits.
        progress: { ...silent, warn, requested },
        signal,
        nothing: nothingRan,
        proof: 'required',
        once: 'always',
        separated: await separated(context),
      },
    )
    return approval.id
  } catch (error) {
    throw inTypedNames(hookOperation, error)
  }
}

/** Why a call is blocked, for the agent that reads it. The hints of our errors are for a person and are left out. */
export const blockedReason = (error: unknown): string => {
  if (!(error instanceof SvcError)) return 'svc blocked this call: Something went wrong inside svc.'
  const { message, detail, exit } = error
  const decided = ['denied', 'expired', 'interrupted'].includes(exit)
  const sentences = [
    `svc blocked this call: ${message}`,
    ...(detail === undefined ? [] : [detail]),
    ...(decided ? [] : ['A person can check the setup with svc hook status']),
  ]
  return safeLine(sentences.map(withFullStop).join(' '))
}

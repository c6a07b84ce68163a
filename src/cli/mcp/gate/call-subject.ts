import { subjectFor } from '../../../asking/subject.ts'
import { SvcError } from '../../../core/errors.ts'
import type { Subject } from '../../../receipt/subject.ts'
import type { Definition } from './definitions.ts'
import type { ToolCall } from './message.ts'

/** What a person approves: the call, and how the server describes the tool now and at the last approval. */
export const subjectOf = (
  { name, arguments: given, parameters }: ToolCall,
  server: string,
  { now, before }: { now: Definition; before: Definition | undefined },
): Subject => {
  const changed = before && before.sha256 !== now.sha256
  const description = changed &&
    before.description !== now.description && { before: before.description, now: now.description }
  const definition = {
    sha256: now.sha256,
    ...(changed && { changed: { before: before.sha256, ...(description && { description }) } }),
  }
  const data = { server, tool: name, arguments: given, ...(parameters && { parameters }), definition }
  return subjectFor(
    { type: 'tool_call', data },
    (problem) => new SvcError('usage', 'not_shown', `A person cannot be shown this call: ${problem}`),
  )
}

import { SvcError } from '../../../core/errors.ts'
import { readSubject, SubjectError, type Subject } from '../../../receipt/subject.ts'
import type { Definition } from './definitions.ts'
import type { ToolCall } from './message.ts'

/** What a person approves: the call, and how the server describes the tool now and at the last approval. */
export const subjectOf = (
  call: ToolCall,
  server: string,
  { now, before }: { now: Definition; before: Definition | undefined },
): Subject => {
  const changed = before && before.sha256 !== now.sha256
  const described = changed && before.description !== now.description
  try {
    return readSubject({
      type: 'tool_call',
      data: {
        server,
        tool: call.name,
        arguments: call.arguments,
        ...(call.parameters && { parameters: call.parameters }),
        definition: {
          sha256: now.sha256,
          ...(changed && {
            changed: {
              before: before.sha256,
              ...(described && { description: { before: before.description, now: now.description } }),
            },
          }),
        },
      },
    })
  } catch (error) {
    if (!(error instanceof SubjectError)) throw error
    throw new SvcError(
      'usage',
      'not_shown',
      `A person cannot be shown this call: ${error.path} ${error.message}`,
    )
  }
}

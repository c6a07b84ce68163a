import * as z from 'zod/mini'
import { chosen, formed, optional } from './field.ts'

export const sha256Hex = formed(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hex, 64 characters')

/** The types of subjects; `receipt/subject.ts` checks their data. */
export const subjectTypes = ['text', 'command', 'request', 'file', 'tool_call'] as const

/** What exactly to approve. The approver reads what the service renders from `data`. */
export const subjectInput = z.strictObject({
  type: chosen(z.enum(subjectTypes), 'text, command, request, file or tool_call'),
  data: chosen(z.looseObject({}), 'What exactly to approve'),
  digest: optional(
    sha256Hex,
    'SHA-256 of the canonical JSON (RFC 8785) of data, lower-case hex; checked if present',
  ),
})

export const subjectRecord = z.looseObject({
  type: chosen(z.enum(subjectTypes), 'text, command, request, file or tool_call'),
  data: chosen(z.looseObject({}), 'What exactly to approve'),
  digest: chosen(z.string(), 'SHA-256 of the canonical JSON (RFC 8785) of data'),
  summary: chosen(z.string(), 'The headline that the approver reads, rendered from data'),
  fields: chosen(
    z.array(
      z.looseObject({
        label: chosen(z.string(), 'Label'),
        value: chosen(z.string(), 'Value'),
        before: optional(z.string(), 'The value that an update replaces'),
      }),
    ),
    'What the approver reads below the headline, rendered from data',
  ),
})

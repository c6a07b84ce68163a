import { unexpectedAnswer } from '../../core/errors.ts'
import { parseExact } from '../../core/exact-json.ts'
import { isRecord } from '../../core/is-record.ts'

// Reads what a tool returned. Whatever two readers could take for different decisions is refused.

/** The value of a JSON text; undefined if it is none. Throws if a member appears twice. */
const exactly = (json: string): unknown => {
  try {
    return parseExact(json)
  } catch (error) {
    if (error instanceof SyntaxError && error.message !== 'a member appears twice') return undefined
    throw unexpectedAnswer('The answer of the tool server contradicts itself', {
      detail: 'A member of it appears twice. It is not known whether the request was approved.',
      cause: error,
    })
  }
}

/** The SDK would use the last of two members with the same name. */
export const requireUnambiguous = (body: string, type: string | undefined): void => {
  const isStream = /^\s*text\/event-stream\b/i.test(type ?? '')
  const events = isStream ? body.split(/(?:\r\n|\n|\r){2,}/) : []
  const texts = events.map((event) =>
    event
      .split(/\r\n|\n|\r/)
      .flatMap((line) => /^data: ?(.*)$/s.exec(line)?.[1] ?? [])
      .join('\n'),
  )
  for (const text of isStream ? texts : [body]) exactly(text)
}

/** The object in a block of text. Throws if a member appears twice: another parser would use the other value. */
const parsed = (block: string): Record<string, unknown> | undefined => {
  const value = exactly(block)
  return isRecord(value) ? value : undefined
}

/** Whether text next to an `approved` answer contradicts it: `Denied. As JSON:`. */
const contradictsApproval = (words: string): boolean => {
  const [first] = /\b(?:approved|denied|rejected|declined|expired|pending|unapproved)\b/i.exec(words) ?? []
  const negated = /(?:\bnot|\bnever|n['’]t)(?: yet| been)? approved\b/i.test(words)
  return negated || (first !== undefined && first.toLowerCase() !== 'approved')
}

const differ = (values: readonly unknown[]): boolean =>
  new Set(values.filter((value) => value !== undefined)).size > 1

/**
 * The answer of a tool: `structuredContent`, or JSON in a block of text, as servers of older revisions answer.
 * `contradictory`: its parts disagree, so none of them is trusted.
 */
export const answerIn = (
  structuredContent: unknown,
  content: unknown,
): { answer?: Record<string, unknown> | undefined; contradictory: boolean } => {
  const blocks = (Array.isArray(content) ? (content as { text?: unknown }[]) : []).flatMap(({ text }) =>
    typeof text === 'string' ? [text] : [],
  )
  const objects = [structuredContent, ...blocks.map(parsed)].filter(isRecord)
  const [answer] = objects
  const contradictory =
    differ(objects.map(({ status }) => status)) ||
    differ(objects.map(({ request_id }) => request_id)) ||
    (answer?.status === 'approved' &&
      blocks.some((block) => parsed(block)?.status === undefined && contradictsApproval(block)))
  return { answer, contradictory }
}

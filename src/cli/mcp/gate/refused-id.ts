import { foldedName } from '../../../core/folded-name.ts'
import { fromUtf8, walkJson } from '../../../core/exact-json.ts'
import { isRecord } from '../../../core/is-record.ts'

// A message that two parsers could read differently is refused without its fields. If every parser finds the same id, the
// refusal has it, so that the client does not wait for an answer.

type Id = string | number

/** Every program reads and writes such an id the same way, on one line. */
const isPlain = (value: unknown): value is Id =>
  Number.isSafeInteger(value) || (typeof value === 'string' && /^[\x20-\x7e]{1,256}$/.test(value))

/** The id of a refused message and whether it is an answer; without an id that every parser finds, neither. */
export const refusedId = (bytes: Buffer): { id: Id | undefined; isResponse: boolean } => {
  const none = { id: undefined, isResponse: false }
  try {
    const json = fromUtf8(bytes)
    const fields: unknown = JSON.parse(json)
    if (!isRecord(fields) || !isPlain(fields['id'])) return none
    const names: string[] = []
    walkJson(json, {
      member: (name, depth) => depth === 1 && names.push(foldedName(JSON.parse(name) as string)),
    })
    if (names.filter((name) => name === 'id').length !== 1) return none
    return { id: fields['id'], isResponse: !names.includes('method') }
  } catch {
    return none
  }
}

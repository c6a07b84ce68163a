import { isRecord } from '../../../core/is-record.ts'
import { parseJson } from '../../../core/parse-json.ts'
import { fromUtf8 } from '../../../core/exact-json.ts'
import { folded } from './strict-json.ts'

// A message that two parsers could read differently is refused without its fields. If every parser finds the same id, the
// refusal has it, so that the client does not wait for an answer.

type Id = string | number

const space = new Set([' ', '\t', '\n', '\r'])

/** The names of the members of a JSON object, each as often as it appears. */
const namesIn = (json: string): string[] => {
  const names: string[] = []
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const char = json[at]!
    if (char === '{' || char === '[') depth += 1
    else if (char === '}' || char === ']') depth -= 1
    else if (char === '"') {
      const from = at
      for (at++; json[at] !== '"'; at++) if (json[at] === '\\') at++
      let after = at + 1
      while (space.has(json[after]!)) after++
      if (depth === 1 && json[after] === ':') names.push(JSON.parse(json.slice(from, at + 1)) as string)
    }
  }
  return names
}

const decoded = (bytes: Buffer): string | undefined => {
  try {
    return fromUtf8(bytes)
  } catch {
    return undefined
  }
}

/** Every program reads and writes such an id the same way, on one line. */
const isPlain = (value: unknown): value is Id =>
  Number.isSafeInteger(value) || (typeof value === 'string' && /^[\x20-\x7e]{1,256}$/.test(value))

/** The id of a refused message and whether it is an answer; without an id that every parser finds, neither. */
export const refusedId = (bytes: Buffer): { id: Id | undefined; isResponse: boolean } => {
  const json = decoded(bytes)
  const fields = json === undefined ? undefined : parseJson(json)
  const names = isRecord(fields) ? namesIn(json!).map(folded) : []
  const id = isRecord(fields) ? fields['id'] : undefined
  if (!isPlain(id) || names.filter((name) => name === 'id').length !== 1)
    return { id: undefined, isResponse: false }
  return { id, isResponse: !names.includes('method') }
}

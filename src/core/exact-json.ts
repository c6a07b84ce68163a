/**
 * Decodes canonical base64url: no padding, no other alphabet, no stray bits. Throws on anything else. The bytes may be part of a
 * larger buffer.
 */
export const fromBase64url = (text: string): Uint8Array => {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.toString('base64url') !== text) throw new SyntaxError('not base64url in its canonical form')
  return bytes
}

export const toBase64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes UTF-8; throws on malformed bytes, and keeps a byte order mark so that the JSON parser rejects it. */
export const fromUtf8 = (bytes: Uint8Array): string => utf8.decode(bytes)

const members = (value: unknown): number => {
  if (value === null || typeof value !== 'object') return 0
  let count = 0
  if (Array.isArray(value)) for (const inner of value) count += members(inner)
  else for (const name of Object.keys(value)) count += 1 + members((value as Record<string, unknown>)[name])
  return count
}

const inNumber = /[-+.\deE]/

type Seen = {
  /** `name` is a JSON text; the members of the outermost object have the depth 1. */
  member?(name: string, depth: number): void
  number?(literal: string): void
}

/** Where the string ends that begins at `from`. */
const endOfString = (json: string, from: number): number => {
  for (let at = json.indexOf('"', from + 1); ; at = json.indexOf('"', at + 1)) {
    let escapes = at
    while (json[escapes - 1] === '\\') escapes -= 1
    if ((at - escapes) % 2 === 0) return at
  }
}

const isSpace = (char: string | undefined): boolean =>
  char === ' ' || char === '\n' || char === '\r' || char === '\t'

/** How many members a valid JSON text has, each as often as it appears. */
const countNames = (json: string): number => {
  let count = 0
  for (let from = json.indexOf('"'); from >= 0;) {
    let next = endOfString(json, from) + 1
    from = json.indexOf('"', next)
    while (isSpace(json[next])) next += 1
    if (json[next] === ':') count += 1
  }
  return count
}

/** Reports the members of a valid JSON text, each as often as it appears, and its numbers as they are written. */
export const walkJson = (json: string, { member, number }: Seen): void => {
  let [depth, last] = [0, '']
  for (let at = 0; at < json.length; at++) {
    const char = json[at]!
    if (char === '"') {
      const from = at
      at = endOfString(json, from)
      if (member) last = json.slice(from, at + 1)
    } else if (char === ':') member?.(last, depth)
    else if (char === '{' || char === '[') depth += 1
    else if (char === '}' || char === ']') depth -= 1
    else if (number && (char === '-' || (char >= '0' && char <= '9'))) {
      const from = at
      while (at + 1 < json.length && inNumber.test(json[at + 1]!)) at++
      number(json.slice(from, at + 1))
    }
  }
}

/** `JSON.parse` that throws on duplicate members: another parser could use the other value. */
export const parseExact = (json: string): unknown => {
  const value: unknown = JSON.parse(json)
  if (members(value) !== countNames(json)) throw new SyntaxError('a member appears twice')
  return value
}

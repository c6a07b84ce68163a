/** Bytes of base64url in its one spelling: no padding, no other alphabet, no stray bits. Throws on any other. */
export const fromBase64url = (text: string): Uint8Array => {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.toString('base64url') !== text) throw new SyntaxError('not base64url in its canonical form')
  return new Uint8Array(bytes)
}

export const toBase64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')

/** Text of UTF-8 bytes; throws on malformed ones, and a byte order mark stays where a parser trips over it. */
export const fromUtf8 = (bytes: Uint8Array): string =>
  new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)

const members = (value: unknown): number => {
  if (value === null || typeof value !== 'object') return 0
  const own = Array.isArray(value) ? 0 : Object.keys(value).length
  return Object.values(value).reduce<number>((sum, inner) => sum + members(inner), own)
}

const colons = (json: string): number => {
  let count = 0
  let quoted = false
  for (let i = 0; i < json.length; i++) {
    const char = json[i]
    if (char === '"') quoted = !quoted
    else if (quoted && char === '\\') i++
    else if (!quoted && char === ':') count++
  }
  return count
}

/** `JSON.parse` that throws where a member stands twice: another reader would take the other one. */
export const parseExact = (json: string): unknown => {
  const value: unknown = JSON.parse(json)
  if (members(value) !== colons(json)) throw new SyntaxError('a member stands twice')
  return value
}

/** Decodes canonical base64url: no padding, no other alphabet, no stray bits. Throws on anything else. */
export const fromBase64url = (text: string): Uint8Array => {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.toString('base64url') !== text) throw new SyntaxError('not base64url in its canonical form')
  return new Uint8Array(bytes)
}

export const toBase64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')

/** Decodes UTF-8; throws on malformed bytes, and keeps a byte order mark so that the JSON parser rejects it. */
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

/** `JSON.parse` that throws on duplicate members: another parser could use the other value. */
export const parseExact = (json: string): unknown => {
  const value: unknown = JSON.parse(json)
  if (members(value) !== colons(json)) throw new SyntaxError('a member appears twice')
  return value
}

export const hasWildcard = (pattern: string): boolean => pattern.includes('*')

/** Whether a text matches a pattern in which `*` is any text. Takes as long as the text is, whatever the pattern. */
export const matches = (pattern: string, text: string): boolean => {
  if (!hasWildcard(pattern)) return pattern === text
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()!
  const end = text.length - last.length
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (const part of others) {
    const found = text.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

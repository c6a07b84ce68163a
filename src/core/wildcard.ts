/**
 * Whether a text matches a pattern in which `*` is any text and `?` any character. Takes at most the product of both lengths, so
 * no pattern can slow it down.
 */
export const matches = (pattern: string, text: string): boolean => {
  let [at, in_, star, from] = [0, 0, -1, 0]
  while (at < text.length)
    if (pattern[in_] === '*') [star, from, in_] = [in_, at, in_ + 1]
    else if (in_ < pattern.length && (pattern[in_] === '?' || pattern[in_] === text[at]))
      [at, in_] = [at + 1, in_ + 1]
    else if (star >= 0) [from, at, in_] = [from + 1, from + 1, star + 1]
    else return false
  while (pattern[in_] === '*') in_++
  return in_ === pattern.length
}

export const hasWildcard = (pattern: string): boolean => /[*?]/.test(pattern)

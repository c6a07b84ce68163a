// What could move a cursor, hide text or turn its direction: controls, format characters (bidi, zero-width, tags),
// lone surrogates, line and paragraph separators, and whatever else Unicode lets a terminal ignore.
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

const codePoint = (char: string): string => char.codePointAt(0)!.toString(16).padStart(4, '0')

/** One line of text from elsewhere, safe on a terminal: what is invisible is shown as `\u{202e}`. */
export const safeLine = (text: string): string => text.replace(unsafe, (char) => `\\u{${codePoint(char)}}`)

/** As `safeLine`, but newlines and tabs stay. */
export const safeText = (text: string): string =>
  text.replace(unsafe, (char) => (char === '\n' || char === '\t' ? char : `\\u{${codePoint(char)}}`))

/** The same JSON in which nothing unsafe is raw: JSON's own escapes, so nothing is lost. */
export const escapeJson = (json: string): string =>
  json.replace(unsafe, (char) =>
    char === '\n'
      ? char
      : [...Array(char.length).keys()]
          .map((i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`)
          .join(''),
  )

/** A value as JSON in which nothing unsafe is raw. */
export const safeJson = (value: unknown, indent?: number): string =>
  escapeJson(JSON.stringify(value, null, indent) ?? 'null')

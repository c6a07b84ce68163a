// What could move a cursor, hide text or turn its direction: controls, format characters (bidi, zero-width, tags),
// lone surrogates, line and paragraph separators, and whatever else Unicode lets a terminal ignore.
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

const codePoint = (char: string): string => char.codePointAt(0)!.toString(16).padStart(4, '0')

// The same without what text legitimately holds: newlines, tabs, what joins letters and emoji, and variation selectors.
const unseen = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u3164\uffa0]/gu

/** Whether a reader sees all of the text, and where it stands. */
export const isSeen = (text: string): boolean => text.search(unseen) === -1

/** Text for a pipe or a file, whose reader may be a terminal in the end: what nobody sees is written as `\u{202e}`. */
export const seenText = (text: string): string => text.replace(unseen, (char) => `\\u{${codePoint(char)}}`)

/** As `seenText`, in the escapes of a double-quoted scalar of YAML. */
export const seenYaml = (text: string): string =>
  text.replace(unseen, (char) => `\\U${codePoint(char).padStart(8, '0')}`)

/** One line of text from elsewhere, safe on a terminal: what is invisible is shown as `\u{202e}`. */
export const safeLine = (text: string): string => text.replace(unsafe, (char) => `\\u{${codePoint(char)}}`)

/** As `safeLine`, but newlines and tabs stay. */
export const safeText = (text: string): string =>
  text.replace(unsafe, (char) => (char === '\n' || char === '\t' ? char : `\\u{${codePoint(char)}}`))

/** JSON's own escapes of a character, so nothing is lost. */
const jsonEscapes = (char: string): string =>
  [...Array(char.length).keys()].map((i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')

/** The same JSON in which nothing unsafe is raw. */
export const escapeJson = (json: string): string =>
  json.replace(unsafe, (char) => (char === '\n' ? char : jsonEscapes(char)))

/** Any valid JSON in which only its own white space stands raw of what nobody sees. */
export const seenJson = (json: string): string =>
  json.replace(unseen, (char) => (char === '\r' ? char : jsonEscapes(char)))

/** A value as JSON in which nothing unsafe is raw. */
export const safeJson = (value: unknown, indent?: number): string =>
  escapeJson(JSON.stringify(value, null, indent) ?? 'null')

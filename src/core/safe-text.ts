// Characters that can move the cursor, hide text or change its direction: controls, format characters (bidi, zero-width,
// tags), unpaired surrogates, line and paragraph separators, all that Unicode declares ignorable, and blank symbols.
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/gu

const codePoint = (char: string): string => char.codePointAt(0)!.toString(16).padStart(4, '0')

// The same without characters of ordinary text: newlines, tabs, joiners of letters and emoji, and variation selectors.
const unseen = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u3164\uffa0]/gu

/** Whether a reader sees all of the text, in its real order. */
export const isSeen = (text: string): boolean => text.search(unseen) === -1

/** Text for a pipe or a file, which may end up on a terminal: invisible characters are written as `\u{202e}`. */
export const seenText = (text: string): string => text.replace(unseen, (char) => `\\u{${codePoint(char)}}`)

/** Like `seenText`, in the escapes of a double-quoted scalar of YAML. */
export const seenYaml = (text: string): string =>
  text.replace(unseen, (char) => `\\U${codePoint(char).padStart(8, '0')}`)

/** One line of foreign text, safe on a terminal: invisible characters are shown as `\u{202e}`. */
export const safeLine = (text: string): string => text.replace(unsafe, (char) => `\\u{${codePoint(char)}}`)

/** Like `safeLine`, but keeps newlines and tabs. */
export const safeText = (text: string): string =>
  text.replace(unsafe, (char) => (char === '\n' || char === '\t' ? char : `\\u{${codePoint(char)}}`))

/** The JSON escapes of a character, so that no information is lost. */
const jsonEscapes = (char: string): string =>
  [...Array(char.length).keys()].map((i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')

/** The same JSON with unsafe characters escaped. */
export const escapeJson = (json: string): string =>
  json.replace(unsafe, (char) => (char === '\n' ? char : jsonEscapes(char)))

/** The same JSON with invisible characters escaped, except its white space. */
export const seenJson = (json: string): string =>
  json.replace(unseen, (char) => (char === '\r' ? char : jsonEscapes(char)))

/** A value as JSON with unsafe characters escaped. */
export const safeJson = (value: unknown, indent?: number): string =>
  escapeJson(JSON.stringify(value, null, indent) ?? 'null')

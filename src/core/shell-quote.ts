/** Text in single quotes for a POSIX shell, zsh and fish: nothing in it is special, and nothing ends the quotes. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** A word for a POSIX shell, quoted only if necessary. */
export const shellQuote = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : quoted(text))

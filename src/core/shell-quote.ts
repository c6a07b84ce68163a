/** In single quotes for a POSIX shell, zsh and fish: nothing in it means anything, and nothing ends the quotes. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** A word as a POSIX shell is told it: quoted where it must be. */
export const shellQuote = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : quoted(text))

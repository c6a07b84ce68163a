/** Adds a full stop, unless the text already ends with punctuation, as messages of services may. */
export const withFullStop = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`)

/** `a, b or c`. */
export const listed = (choices: readonly string[]): string =>
  choices.length === 1 ? choices[0]! : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`

/** A text as a sentence among others: what another service says may have its full stop already. */
export const withFullStop = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`)

/** `a, b or c`. */
export const listed = (choices: readonly string[]): string =>
  choices.length === 1 ? choices[0]! : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`

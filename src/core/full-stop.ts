/** A text as a sentence among others: what another service says may have its full stop already. */
export const withFullStop = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`)

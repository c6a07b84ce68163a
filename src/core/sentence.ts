/** Adds a full stop, unless the text already ends with punctuation, as messages of services may. */
export const withFullStop = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`)

/** `a, b or c`. */
export const listed = (choices: readonly string[]): string =>
  choices.length === 1 ? choices[0]! : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`

const units: [unit: string, seconds: number][] = [
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
]

/** `1 user`, `2 users`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Seconds as `15 minutes`: in the largest unit that is exact. */
export const spanText = (seconds: number): string => {
  const [unit, length] = units.find(([, each]) => seconds % each === 0)!
  return counted(seconds / length, unit)
}

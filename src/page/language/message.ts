/** A text, as the build compiles it from ICU MessageFormat: as it is, or in parts. */
export type Message = string | readonly (string | Slot)[]

/** The place of a value, or the message for its plural category, its exact number (`=0`) or its name. */
type Slot = readonly [name: string, cases?: Readonly<Record<string, Message>>]

/** The texts of a language: by number, and by name on the screens whose keys are data. */
export type Catalogue = readonly [
  numbered: readonly Message[],
  named: Readonly<Record<string, Readonly<Record<string, Message>>>>,
]

/** The message for a number or a name. */
const chosen = (cases: Readonly<Record<string, Message>>, value: unknown, language: string): Message => {
  const exact = cases[typeof value === 'number' ? `=${value}` : String(value)]
  const category = typeof value === 'number' ? new Intl.PluralRules(language).select(value) : 'other'
  return exact ?? cases[category] ?? cases.other ?? ''
}

/** The parts of a message, with its values in their places. Texts of the message itself stay strings. */
export const fill = <V, R>(
  message: Message,
  values: Readonly<Record<string, V>>,
  language: string,
  put: (value: V) => R,
): (string | R)[] =>
  typeof message === 'string'
    ? [message]
    : message.flatMap((part): (string | R)[] => {
        if (typeof part === 'string') return [part]
        const [name, cases] = part
        const value = values[name] as V
        return cases ? fill(chosen(cases, value, language), values, language, put) : [put(value)]
      })

/** Letters of Hebrew, Arabic and the other scripts from right to left. */
const rightToLeftLetter = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/

/** A value is foreign to the text around it: its direction must not change the order of the words. */
export const isolated = (value: string, rightToLeft: boolean): string =>
  rightToLeft || rightToLeftLetter.test(value) ? `\u2068${value}\u2069` : value

/**
 * The key of the text for a label of `receipt/subject-text.ts`: "Working directory" is `subject.workingDirectory`. Those labels
 * start with a capital letter; a name in the data never does, has no key, and stays as it is.
 */
export const labelKey = (label: string): string | undefined => {
  if (!/^[A-Z]/.test(label)) return undefined
  const words = label.replace("'", '').split(' ')
  const name = words.map((word, at) => word.charAt(0)[at ? 'toUpperCase' : 'toLowerCase']() + word.slice(1))
  return `subject.${name.join('')}`
}

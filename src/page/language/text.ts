// To add a text: add its key to messages/en/<screen>.json (ICU MessageFormat; a value is {name}), then run `npm run build`.
// Show it with t('screen.key', { name }); with nodes as values, such as exactText(…), use nodes('screen.key', { name }).

import type { Texts } from './english.ts'
import { fill, isolated, type Catalogue, type Message } from './message.ts'

export type Key = keyof Texts
/** Without values. */
export type Plain = { [K in Key]: Record<never, never> extends Texts[K] ? K : never }[Key]
/** A value without a plural or a select can also be a node. */
type Nodes<K extends Key> = {
  [N in keyof Texts[K]]: string | number extends Texts[K][N] ? string | number | Node : Texts[K][N]
}
type Given<V> = Record<never, never> extends V ? [] : [values: V]

let spoken: Catalogue = [[], {}]
let tag = 'en'
let numbers = new Intl.NumberFormat(tag)
let rightToLeft = false

/** The language in which numbers, dates and lists are formatted: that of the texts, as the browser's region writes it. */
export const locale = (): string => tag

/** From now on, texts are in this language. */
export const speak = (
  catalogue: Catalogue,
  { language, isRightToLeft }: { language: string; isRightToLeft: boolean },
): void => {
  spoken = catalogue
  tag = language
  numbers = new Intl.NumberFormat(tag)
  rightToLeft = isRightToLeft
}

/** In the source, a key is a name. The build turns it into the number of its text, unless the name is data. */
const messageIn = ([numbered, named]: Catalogue, key: string | number): Message | undefined => {
  if (typeof key === 'number') return numbered[key]
  const [screen = '', name = ''] = key.split('.')
  const texts = named[screen] ?? {}
  return Object.hasOwn(texts, name) ? texts[name] : undefined
}

/** Whether there is a text for this name. */
export const isKey = (key: string): key is Key => messageIn(spoken, key) !== undefined

const messageOf = (key: Key): Message => messageIn(spoken, key) ?? ''

const valueText = (value: string | number): string =>
  typeof value === 'number' ? numbers.format(value) : isolated(value, rightToLeft)

/** For a text that becomes a value itself, such as a name that is sent to the service. */
export const withoutIsolates = (text: string): string => text.replaceAll(/[\u2068\u2069]/g, '')

/** The text of a key in the language of the page. */
export const t = <K extends Key>(key: K, ...[values]: Given<Texts[K]>): string =>
  fill<string | number, string>(messageOf(key), values ?? {}, tag, valueText).join('')

const nodeOf = (value: string | number | Node): string | Node =>
  value instanceof Node ? value : valueText(value)

/** The text of a key around nodes, such as a bold name. */
export const nodes = <K extends Key>(key: K, ...[values]: Given<Nodes<K>>): DocumentFragment => {
  const whole = document.createDocumentFragment()
  const given = (values ?? {}) as Record<string, string | number | Node>
  whole.append(...fill(messageOf(key), given, tag, nodeOf))
  return whole
}

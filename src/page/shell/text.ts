import type { Member, Pending } from '../calls/api.ts'
import { h } from './element.ts'
import { locale, t } from '../language/text.ts'

// The set of `core/safe-text.ts`: controls, format characters (bidi, zero-width, tags), unpaired surrogates,
// separators, all that Unicode declares ignorable, and blank symbols. Newlines are kept. No script stacks five marks on a
// letter: a tower of them would cover the lines above and below, which say who really asks.
// Then, the hyphens of an option such as `--force`: a line break between them and its name would look like a space.
// Last, what the service writes for such a character in a subject: `\u{202e}`.
const special =
  /((?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]|\p{M}{5,})|(^|\s)(-+\w)|\\u\{((?:10|[\da-f])?[\da-f]{4})\}/gu

const token = (char: string): string =>
  `[U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`

/** A long word breaks after what divides it, and JSON after the name of a value. */
const wrapped = (text: string): (Node | string)[] =>
  text.split(/([/\\=&?,_@]+|":)/).flatMap((part, at) => (at % 2 === 0 ? [part] : [part, h('wbr')]))

const mark = (...codes: string[]): HTMLElement => h('bdi', 'mark', ...codes)

/** The code for a character in a subject, as it is. A line break follows that of a line break, except in one line. */
const escaped = (written: string, code: string, isLine: boolean): (Node | string)[] => {
  const char = String.fromCodePoint(Number.parseInt(code, 16))
  if (char === '\n') return [mark(written), isLine ? '' : char]
  return char.search(special) === 0 ? [mark(written)] : [written]
}

/** Foreign text exactly as it is signed; invisible characters are shown as a marked [U+202E]. */
export const exactText = (text: string, isLine = false): Node => {
  const whole = h('span', { class: 'exact', dir: 'auto' })
  let from = 0
  for (const { 0: found, 1: unseen, 2: space = '', 3: option, 4: code, index } of text.matchAll(special)) {
    whole.append(...wrapped(text.slice(from, index) + space))
    if (unseen !== undefined) whole.append(mark(...[...unseen].map(token)))
    else if (option !== undefined) whole.append(h('span', 'option', option))
    else whole.append(...escaped(found, code!, isLine))
    from = index + found.length
  }
  whole.append(...wrapped(text.slice(from)))
  return whole
}

/** The same in one line: a line break is shown as its code, so that nothing in the text looks like a line of the page. */
export const exactLine = (text: string): Node => exactText(text.replaceAll('\n', String.raw`\u{000a}`), true)

/** A frame shows where a name or the word of a command begins and ends, whatever is in it. */
export const framed = (text: string): HTMLElement => h('span', 'framed', exactLine(text))

/** The request in one line, rendered from the subject. */
export const headline = ({ action, subject }: Pick<Pending, 'action' | 'subject'>): string =>
  subject?.summary ?? action

export type Person = Pick<Member, 'first_name' | 'last_name' | 'mobile'>

const japanese = /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\u3005\u30fc\s]+$/u

/** A Japanese name has the family name first, on a Japanese page. */
export const nameOf = ({ first_name, last_name, mobile }: Person): string => {
  const name = `${first_name} ${last_name}`.trim()
  if (locale().startsWith('ja') && japanese.test(name)) return `${last_name} ${first_name}`.trim()
  return name || mobile
}

/** "A, B, and C", "A, B, or C", or "A, B, C". */
export const joined = (
  items: readonly (Node | string)[],
  type: 'conjunction' | 'disjunction' | 'unit',
): DocumentFragment => {
  const whole = document.createDocumentFragment()
  // In Japanese, a list of units has only spaces.
  const kind = type === 'unit' && locale().startsWith('ja') ? 'conjunction' : type
  const places = new Intl.ListFormat(locale(), { type: kind, style: kind === 'unit' ? 'short' : 'long' })
  for (const part of places.formatToParts(items.map((_, at) => String(at))))
    whole.append(part.type === 'element' ? items[Number(part.value)]! : part.value)
  return whole
}

/** Foreign names, each exactly as it is: "A, B, C", or "A, B, and C". */
export const exactNames = (
  names: readonly string[],
  type: 'conjunction' | 'unit' = 'unit',
): DocumentFragment =>
  joined(
    names.map((name) => exactText(name)),
    type,
  )

/** 4:05, or 1:02:03 from an hour on. */
export const clockText = (ms: number): string => {
  const all = Math.max(0, Math.ceil(ms / 1000))
  const hours = Math.floor(all / 3600)
  const minutes = Math.floor(all / 60) % 60
  const numbers = hours ? [hours, minutes, all % 60] : [minutes, all % 60]
  return numbers
    .map((value, at) => value.toLocaleString(locale(), { minimumIntegerDigits: at === 0 ? 1 : 2 }))
    .join(':')
}

/** `Number to compare: 163 817`, as both devices show it. */
export const codeText = (code: string): string =>
  t('devices.compare', { code: `${code.slice(0, 3)}\u00a0${code.slice(3)}` })

/** Digits of Arabic and Persian keyboards, and the wide ones of Japanese keyboards, as the service expects them. */
export const plainDigits = (text: string): string =>
  text.replaceAll(/[\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]/g, (digit) => String(digit.charCodeAt(0) & 15))

import { attempted } from '../../../core/attempted.ts'
import { fromUtf8, parseExact, walkJson } from '../../../core/exact-json.ts'

// The server reads the same bytes with another parser. A text that two parsers could read differently is refused, so that what a
// person approves is what the server does.

/** Why a text is refused, as the predicate of a sentence about the message. */
export class NotStrict extends SyntaxError {}

/** Parsers that read line by line end a line at these too, also inside of a string. */
const lineEnds = /[\r\u0085\u2028\u2029]/

/** The UTF-8 of those that JSON allows inside of a string, byte by byte, and what JSON takes for the same. */
const escapes: Record<string, string> = {
  '\xc2\x85': '\\u0085',
  '\xe2\x80\xa8': '\\u2028',
  '\xe2\x80\xa9': '\\u2029',
}

/** The same message, without a line separator in its texts: people paste them, and a server could split the message there. */
export const onOneLine = (bytes: Buffer): Buffer => {
  const text = bytes.toString('latin1')
  const escaped = text.replaceAll(/\xc2\x85|\xe2\x80[\xa8\xa9]/g, (end) => escapes[end]!)
  return escaped === text ? bytes : Buffer.from(escaped, 'latin1')
}

type Decimal = { digits: string; exponent: number }

/** The digits of a number without zeros at either end, and its power of ten. */
const decimalOf = (literal: string): Decimal | undefined => {
  const [, whole, fraction = '', power = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? []
  if (whole === undefined) return undefined
  const all = `${whole}${fraction}`
  let first = 0
  while (all[first] === '0') first++
  let last = all.length
  while (last > first && all[last - 1] === '0') last--
  const digits = all.slice(first, last)
  return { digits, exponent: digits === '' ? 0 : Number(power) - fraction.length + (all.length - last) }
}

/** Whether a number is exactly what JavaScript makes of it. Other parsers keep more digits, and the sign of zero. */
export const isExactNumber = (literal: string): boolean => {
  const [typed, read] = [decimalOf(literal), decimalOf(String(Number(literal)))]
  if (!typed || !read || (typed.digits === '' && literal.startsWith('-'))) return false
  return typed.digits === read.digits && typed.exponent === read.exponent
}

const checkNumber = (literal: string): void => {
  if (isExactNumber(literal)) return
  throw new NotStrict(
    `contains the number ${literal.slice(0, 40)}, which not every program reads the same way; write it as text`,
  )
}

const checkText = (text: string): void => {
  if (text.includes('\0')) throw new NotStrict('contains NUL')
  if (/\p{Cs}/u.test(text)) throw new NotStrict('contains half of a surrogate pair')
}

/** Not recursive, so that deep nesting cannot overflow the stack. */
const checkTexts = (value: unknown): void => {
  const left = [value]
  while (left.length > 0) {
    const one = left.pop()
    if (typeof one === 'string') checkText(one)
    else if (typeof one === 'object' && one !== null)
      for (const [name, inner] of Object.entries(one)) {
        checkText(name)
        if (name === '__proto__') throw new NotStrict('contains a member called __proto__')
        left.push(inner)
      }
  }
}

/** Parses a message that every parser reads the same way. Throws `NotStrict` for any other. */
export const parseStrict = (bytes: Buffer): unknown => {
  const json = attempted(() => fromUtf8(bytes))
  if (json === undefined) throw new NotStrict('is not UTF-8')
  if (lineEnds.test(json))
    throw new NotStrict(
      'contains a line separator, at which the server could split it; write it as an escape such as \\u2028',
    )
  let value: unknown
  try {
    value = parseExact(json)
  } catch (error) {
    // RangeError: nested too deeply for the stack.
    const isTwice = error instanceof SyntaxError && error.message === 'a member appears twice'
    throw new NotStrict(isTwice ? 'has a member twice' : 'is not one JSON text on one line')
  }
  walkJson(json, { number: checkNumber })
  checkTexts(value)
  return value
}

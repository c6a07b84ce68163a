import { quoted } from '../core/shell-quote.ts'
import { usualGrant } from '../contract/rule-shape.ts'
import { listed, spanText } from '../core/sentence.ts'
import { isRecord } from '../core/is-record.ts'

// A rule in short texts, for tables and plans.

const words = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

/** As it is typed; patterns stay readable. */
const word = (text: string): string => (/^[\w@%+=:,./*?-]+$/.test(text) ? text : quoted(text))

/** `terraform ** destroy ** in /srv/prod/**`: what a rule or an exception looks at. Rows of a service can be anything. */
export const matchText = (match: unknown): string => {
  if (!isRecord(match)) return ''
  const { type, argv, cwd, operation, file, server, tool, arguments: values, text, shells, key } = match
  const one = (patterns: unknown, before = ''): string[] =>
    Array.isArray(patterns) && patterns.length > 0 ? [before + listed(words(patterns).map(word))] : []
  const parts = [
    ...(Array.isArray(argv) ? [words(argv).map(word).join(' ')] : []),
    ...(Array.isArray(operation) ? [listed(words(operation).map((one) => `svc ${one}`))] : []),
    ...one(file, 'file '),
    ...one(tool),
    ...one(server, 'of '),
    ...(isRecord(values)
      ? Object.entries(values).flatMap(([name, patterns]) => one(patterns, `with ${name} `))
      : []),
    ...one(text, 'text '),
    ...one(cwd, 'in '),
    ...one(key, 'by key '),
    ...(shells === 'ignore' ? ['(not through shells)'] : []),
  ]
  // A rule that names nothing but a type holds all of it.
  const whole = ['argv', 'operation', 'file', 'tool', 'text'].every((name) => match[name] === undefined)
  return [...(whole && typeof type === 'string' ? [`every ${type}`] : []), ...parts].join(' ')
}

export const exceptText = (except: unknown): string =>
  Array.isArray(except) ? except.map(matchText).join('; ') : ''

/** `up to 20 times in 1 hour`. */
export const grantText = (grant: unknown): string => {
  if (!isRecord(grant)) return ''
  const { uses, max_s } = { ...usualGrant, ...grant }
  return `up to ${String(uses)} times in ${spanText(Number(max_s))}`
}

export const reasonText = (reason: unknown): string => {
  if (!isRecord(reason)) return ''
  const { prompt = 'required', pattern, example } = reason
  const form = pattern === undefined ? '' : `, must match ${String(pattern)}, for example ${String(example)}`
  return String(prompt) + form
}

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from '@messageformat/parser'

// Compiles the texts of the approver page from ICU MessageFormat, so that the page carries no parser.
// `src/page/language/message.ts` describes the result.

const folder = fileURLToPath(new URL('../src/page/language/messages', import.meta.url))

const readLanguage = (language) => {
  const from = join(folder, language)
  const files = readdirSync(from).filter((name) => name.endsWith('.json'))
  return Object.fromEntries(
    files
      .toSorted()
      .map((name) => [basename(name, '.json'), JSON.parse(readFileSync(join(from, name), 'utf8'))]),
  )
}

export const languages = existsSync(folder) ? readdirSync(folder).toSorted() : []

const compilePart = (token, counted) => {
  if (token.type === 'content') return token.value
  if (token.type === 'argument') return [token.arg]
  if (token.type === 'octothorpe') return [counted]
  if ((token.type !== 'plural' && token.type !== 'select') || token.pluralOffset)
    throw new Error(`The page has no formatter for this: ${token.ctx.text}`)
  const within = token.type === 'plural' ? token.arg : counted
  return [
    token.arg,
    Object.fromEntries(token.cases.map(({ key, tokens }) => [key, compileTokens(tokens, within)])),
  ]
}

const compileTokens = (tokens, counted) => {
  const parts = tokens.map((token) => compilePart(token, counted))
  return parts.every((part) => typeof part === 'string') ? parts.join('') : parts
}

const tokensOf = (language, place, text) => {
  const rules = new Intl.PluralRules(language).resolvedOptions().pluralCategories
  try {
    return parse(text, { cardinal: rules, ordinal: [], strict: true })
  } catch (error) {
    throw new Error(`${language}: ${place}: ${error.message}`, { cause: error })
  }
}

/** The arguments of a text, each with the TypeScript type of its values. */
const argumentsOf = (tokens) => {
  const found = {}
  for (const token of tokens) {
    if (token.arg === undefined) continue
    const names = token.cases?.map(({ key }) => JSON.stringify(key)) ?? []
    found[token.arg] =
      { plural: 'number', select: names.join(' | ') }[token.type] ?? found[token.arg] ?? 'Value'
    for (const { tokens: inner } of token.cases ?? [])
      for (const [name, type] of Object.entries(argumentsOf(inner)))
        if (found[name] === undefined || type !== 'Value') found[name] = type
  }
  return found
}

const mapTexts = (language, change) =>
  Object.fromEntries(
    Object.entries(readLanguage(language)).map(([screen, texts]) => [
      screen,
      Object.fromEntries(
        Object.entries(texts).map(([key, text]) => [
          key,
          change(tokensOf(language, `${screen}.${key}`, text)),
        ]),
      ),
    ]),
  )

/** The texts of a language: for each screen, its messages by key. */
export const compileLanguage = (language) => mapTexts(language, (tokens) => compileTokens(tokens))

/** Screens whose keys are data: a field or a code of the service, a label, a kind of push message. */
const named = new Set(['field', 'push', 'refused', 'subject'])

/** The keys of all other texts; the number of a text is its place here. */
export const numberedKeys = () =>
  Object.entries(readLanguage('en')).flatMap(([screen, texts]) =>
    named.has(screen) ? [] : Object.keys(texts).map((key) => `${screen}.${key}`),
  )

/** The texts of a language as the page loads them: by number, then by name. */
export const packLanguage = (language) => {
  const texts = compileLanguage(language)
  const numbered = numberedKeys().map((key) => {
    const [screen, name] = key.split('.')
    return texts[screen][name]
  })
  return [numbered, Object.fromEntries(Object.entries(texts).filter(([screen]) => named.has(screen)))]
}

/** For each screen, the arguments of its messages by key. */
export const argumentsIn = (language) => mapTexts(language, argumentsOf)

/** A module with the type of the values that each text takes, and the English texts of notifications. */
export const englishModule = () => {
  const { push } = compileLanguage('en')
  const kinds = Object.keys(push).map((key) => `'${key}'`)
  const types = Object.entries(argumentsIn('en')).flatMap(([screen, messages]) =>
    Object.entries(messages).map(([key, values]) => {
      const members = Object.entries(values).map(([name, type]) => `${name}: ${type}`)
      return `'${screen}.${key}': { ${members.join('; ')} }`
    }),
  )
  return `// Written by the build from messages/en. Do not edit.
import type { Message } from './message.ts'
type Value = string | number
export type Texts = { ${types.join('; ')} }
export const push: Record<${kinds.join(' | ')}, Message> = ${JSON.stringify(push)}
`
}

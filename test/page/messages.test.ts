import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, type Token } from '@messageformat/parser'
import { describe, expect, test } from 'vitest'
import { languages, preferred, regional } from '../../src/page/language/languages.ts'
import { fill, type Catalogue } from '../../src/page/language/message.ts'
import { root } from '../source-tree.ts'
import { english, keys, textsIn } from './english.ts'

const folder = join(root, 'src/page/language/messages')

/** The texts of a language by `screen.key`, as they are written. */
const textsOf = (language: string): Map<string, string> =>
  new Map(
    readdirSync(join(folder, language)).flatMap((file) => {
      const texts = JSON.parse(readFileSync(join(folder, language, file), 'utf8')) as Record<string, string>
      return Object.entries(texts).map(
        ([key, text]) => [`${file.replace('.json', '')}.${key}`, text] as const,
      )
    }),
  )

const originals = textsOf('en')

type Branch = Extract<Token, { cases: unknown }>
const isBranch = (token: Token): token is Branch => 'cases' in token

const all = (tokens: Token[]): Token[] =>
  tokens.flatMap((token) => [
    token,
    ...(isBranch(token) ? token.cases.flatMap((one) => all(one.tokens)) : []),
  ])

/** A value that English has no need of, for languages with a form of their own. */
const ownForm = 'hour'

const valuesIn = (text: string): string[] =>
  [...new Set(all(parse(text)).flatMap((token) => ('arg' in token ? [token.arg] : [])))]
    .filter((name) => name !== ownForm)
    .toSorted()

const casesIn = (text: string, type: 'plural' | 'select'): string[][] =>
  all(parse(text)).flatMap((token) =>
    isBranch(token) && token.type === type && token.arg !== ownForm
      ? [token.cases.map(({ key }) => key)]
      : [],
  )

test('every language of the list has its texts, and no other has', () => {
  expect(readdirSync(folder).toSorted()).toEqual(Object.keys(languages).toSorted())
})

describe.each(Object.keys(languages))('the texts in %s', (language) => {
  const texts = textsOf(language)

  test('are complete, and there are no others', () => {
    expect([...texts.keys()]).toEqual([...originals.keys()])
  })

  test('take the same values as in English', () => {
    const different = [...texts].filter(
      ([key, text]) => valuesIn(text).join() !== valuesIn(originals.get(key) ?? '').join(),
    )
    expect(different).toEqual([])
  })

  // Who steers by voice says what the button shows.
  test('name a button by what it shows, with what it is about', () => {
    const other = [...texts].filter(([key, name]) => {
      const label = texts.get(key.replace(/Name$/, ''))
      // A sentence is no label.
      const isLabel = key.endsWith('Name') && label !== undefined && !/[.。]$/.test(label)
      return isLabel && !name.toLowerCase().includes(label.toLowerCase())
    })
    expect(other).toEqual([])
  })

  test('have a form for every plural category of the language', () => {
    const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories.toSorted()
    const wrong = [...texts].filter(([, text]) =>
      casesIn(text, 'plural').some((keys) => {
        const named = keys.filter((key) => !key.startsWith('=')).toSorted()
        const isAlways = language !== 'ar' && named.join() === 'other'
        return !isAlways && named.join() !== categories.join()
      }),
    )
    expect(wrong).toEqual([])
  })

  test('choose by the same names as in English', () => {
    const different = [...texts].filter(
      ([key, text]) =>
        casesIn(text, 'select').flat().toSorted().join() !==
        casesIn(originals.get(key) ?? '', 'select')
          .flat()
          .toSorted()
          .join(),
    )
    expect(different).toEqual([])
  })

  test('do not use a straight apostrophe, which would quote', () => {
    expect([...texts].filter(([, text]) => text.includes("'"))).toEqual([])
  })
})

test('Japanese texts have one kind of punctuation, and a space between a number and its counter', () => {
  const odd = /[（）：？！]|[#}\d][件人台回分秒時語桁]/u
  expect([...textsOf('ja')].filter(([, text]) => odd.test(text))).toEqual([])
})

/** Texts that are the same as in English. */
const borrowed: Record<string, string[]> = {
  de: [
    'enrollment.code',
    'field.auth_token',
    'field.format',
    'field.id',
    'field.imei',
    'field.name',
    'field.server',
    'field.text',
    'field.tool',
    'field.user',
    'members.administrator',
    'subject.name',
    'subject.server',
    'subject.tool',
  ],
  es: ['field.auth_token', 'field.id', 'field.imei', 'field.no', 'field.roles'],
  fr: [
    'enrollment.code',
    'field.arguments',
    'field.except',
    'field.format',
    'field.id',
    'field.imei',
    'field.latitude',
    'field.longitude',
    'field.message',
    'field.note',
    'field.type',
    'notifications.title',
  ],
  pt: ['field.auth_token', 'field.id', 'field.imei', 'field.latitude', 'field.longitude'],
  ja: ['field.id', 'field.imei'],
  ar: ['field.imei'],
}

test.each(Object.keys(languages).filter((language) => language !== 'en'))(
  'nothing is left in English by accident in %s',
  (language) => {
    const same = [...textsOf(language)].filter(([key, text]) => text === originals.get(key))
    expect(same.map(([key]) => key).toSorted()).toEqual(borrowed[language] ?? [])
  },
)

test.each(Object.keys(languages))('the page loads every text in %s', (language) => {
  const file = readFileSync(join(root, `dist/page/${language}.json`), 'utf8')
  const [numbered, named] = JSON.parse(file) as Catalogue
  const { field, push, refused, subject, ...others } = textsIn(language)
  expect(numbered).toEqual(keys.map((key) => key.split('.')).map(([screen, key]) => others[screen!]![key!]))
  expect(named).toEqual({ field, push, refused, subject })
})

const counted = (language: string, count: number): string =>
  fill(textsIn(language)['inbox']!['requestsWaiting']!, { count }, language, String).join('')

describe('plurals', () => {
  test.each([
    ['en', 0, '0 requests are waiting'],
    ['en', 1, '1 request is waiting'],
    ['en', 100, '100 requests are waiting'],
    ['de', 1, '1 Anfrage wartet'],
    ['de', 2, '2 Anfragen warten'],
    ['fr', 0, '0 demande en attente'],
    ['ja', 1, '1\u00a0件のリクエストが待機中です'],
    ['ar', 0, 'لا طلبات في الانتظار'],
    ['ar', 1, 'طلب واحد في الانتظار'],
    ['ar', 2, 'طلبان في الانتظار'],
    ['ar', 3, '3 طلبات في الانتظار'],
    ['ar', 11, '11 طلبًا في الانتظار'],
    ['ar', 100, '100 طلب في الانتظار'],
  ])('in %s of %i', (language, count, text) => {
    expect(counted(language, count)).toBe(text)
  })

  test('of an exact number are preferred', () => {
    expect(fill(english['inbox']!['members']!, { count: 0 }, 'en', String).join('')).toBe('Members')
  })
})

describe('the language of a browser', () => {
  test.each([
    [['de-AT', 'en'], 'de', 'de-AT'],
    [['pt-PT'], 'pt', 'pt-PT'],
    [['zh-CN', 'fr-CA', 'en'], 'fr', 'fr-CA'],
    [['zh-CN'], 'en', 'en'],
    [[], 'en', 'en'],
  ])('%j is %s, with the formats of %s', (tags, language, tag) => {
    const found = preferred(tags)
    expect([found, regional(found, tags)]).toEqual([language, tag])
  })
})

import { expect, test } from 'vitest'
import { english } from '../../src/page/language/english.ts'
import { sourceTree, unknownValue } from '../source-tree.ts'

const page = sourceTree().filter(({ file }) => file.startsWith('src/page/'))
const strings = page.filter(({ file }) => !file.endsWith('/english.ts')).flatMap((source) => source.strings)

/** For whoever reads the console; nobody sees them on the page. */
const internal = new Set(['The address of the client is not valid', 'Not the service worker'])

test('no text is outside of the catalogue', () => {
  const sentences = strings.filter((text) =>
    /^\p{Lu}\p{L}*’?\p{L}* \p{L}|\p{L} \p{L}+.*[.?!…]$|’/u.test(text),
  )
  expect(sentences.filter((text) => !internal.has(text))).toEqual([])
})

test('every text of the catalogue is used', () => {
  const explained = page
    .flatMap(({ text }) => [...text.matchAll(/\bwords\(([^)]{1,200})\)/g)].map(([, given]) => given!))
    .flatMap((given) => [...given.matchAll(/'([\w.]+)'/g)].map(([, key]) => `${key}Why`))
  const used = new Set([...strings, ...explained])
  const families = strings
    .filter((text) => /^\w+\.\uFFFC$/.test(text))
    .map((text) => text.replace(unknownValue, ''))
  const unused = Object.entries(english).flatMap(([screen, texts]) =>
    Object.keys(texts)
      .map((key) => `${screen}.${key}`)
      .filter((key) => !used.has(key) && !families.some((prefix) => key.startsWith(prefix))),
  )
  // The worker finds its texts by the kind of a push message.
  expect(unused.filter((key) => !key.startsWith('push.'))).toEqual([])
})

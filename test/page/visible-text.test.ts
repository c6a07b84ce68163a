import { expect, test } from 'vitest'
import { sourceTree } from '../source-tree.ts'
import { keys } from './english.ts'

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
  const used = new Set(strings)
  // The build replaces a key by its number where it is written whole. The keys of the other screens are data.
  expect(keys.filter((key) => !used.has(key))).toEqual([])
})

test('a key is put together only for the screens whose keys are data', () => {
  const screens = new Set(keys.map((key) => key.split('.')[0]!))
  const built = strings.filter((text) => /^\w+\.\uFFFC/.test(text) && screens.has(text.split('.')[0]!))
  expect(built).toEqual([])
})

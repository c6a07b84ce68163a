import { check } from 'recheck'
import { expect, test } from 'vitest'
import { readSource, sourceTree, type Regex } from './source-tree.ts'

// One at a time: a check that waits for a processor would return `unknown`.
const slow = async (regexes: Regex[]): Promise<string[]> => {
  const found: string[] = []
  const known = new Map<string, string>()
  for (const { file, source, flags } of regexes) {
    const text = `/${source}/${flags}`
    const status = known.get(text) ?? (await check(source, flags)).status
    known.set(text, status)
    if (status !== 'safe') found.push(`${file}: ${text} is ${status}`)
  }
  return found
}

const sources = sourceTree()

test('no regular expression can be slowed down by its input', async () => {
  const regexes = sources.flatMap((source) => source.regexes)
  expect(regexes.length).toBeGreaterThan(10)
  expect(await slow(regexes)).toEqual([])
})

test('every regular expression is a literal, so that the test above finds it', () => {
  expect(sources.filter(({ text }) => /\bRegExp\(/.test(text)).map(({ file }) => file)).toEqual([])
})

test('the check finds an unsafe one', async () => {
  const bad = readSource('src/core/bad.ts', String.raw`export const words = /^(\w+\s?)*$/`)
  expect(await slow(bad.regexes)).toEqual([String.raw`src/core/bad.ts: /^(\w+\s?)*$/ is vulnerable`])
})

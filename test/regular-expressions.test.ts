import { check } from 'recheck'
import { expect, test } from 'vitest'
import { patienceMs } from './patience.mts'
import { readSource, sourceTree, type Regex } from './source-tree.ts'

// One at a time, and with patience: a check that waits for a processor returns `unknown`.
const slow = async (regexes: Regex[]): Promise<string[]> => {
  const found: string[] = []
  for (const { file, source, flags } of regexes) {
    const { status } = await check(source, flags, { timeout: patienceMs })
    if (status !== 'safe') found.push(`${file}: /${source}/${flags} is ${status}`)
  }
  return found
}

const sources = sourceTree()

test('no regular expression can be slowed down by its input', async () => {
  const regexes = sources.flatMap((source) => source.regexes)
  expect(regexes.length).toBeGreaterThan(10)
  const different = new Map(regexes.map((one) => [`/${one.source}/${one.flags}`, one]))
  expect(await slow([...different.values()])).toEqual([])
})

test('every regular expression is a literal, so that the test above finds it', () => {
  expect(sources.filter(({ text }) => /\bRegExp\(/.test(text)).map(({ file }) => file)).toEqual([])
})

test('the check finds an unsafe one', async () => {
  const bad = readSource('src/core/bad.ts', String.raw`export const words = /^(\w+\s?)*$/`)
  expect(await slow(bad.regexes)).toEqual([String.raw`src/core/bad.ts: /^(\w+\s?)*$/ is vulnerable`])
})

import { describe, expect, test } from 'vitest'
import { readSource, sourceTree, type Source } from './source-tree.ts'

// The table gives each response its type. A cast would hide that another service leaves a field out, or that the table
// has changed.

const isAnswer = (text: string): boolean =>
  /\benvelope\b|\b(?:rowsIn|recordIn|fieldsIn|callTyped)\(|\b(?:client|own|asking)\.(?:call|pages)\(/.test(
    text,
  )

/** Names that hold a response or a part of one. */
const answersIn = ({ variables }: Source): Set<string> => {
  const names = new Set<string>()
  const holds = (from: string): boolean =>
    isAnswer(from) || [...names].some((name) => new RegExp(`^\\(*${name}\\b`).test(from))
  for (let size = -1; size !== names.size;) {
    size = names.size
    for (const { names: bound, from } of variables)
      // The result of a function is not what the function holds.
      if (!/=>/.test(from) && holds(from)) for (const name of bound) names.add(name)
  }
  return names
}

const answerCasts = (source: Source): string[] => {
  const names = answersIn(source)
  return source.casts
    .filter((text) => isAnswer(text) || names.has(/^\(*(\w+)/.exec(text)?.[1] ?? ''))
    .map((text) => `${source.file}: ${text}`)
}

test('no response of the client is cast', () => {
  expect(sourceTree().flatMap(answerCasts)).toEqual([])
})

describe('the check itself', () => {
  test.each([
    `const id = (envelope.data as { id: string }).id`,
    `const { envelope } = await client.call(one, {}); const { data } = envelope; use(data as Row[])`,
    `const rows = rowsIn(list, answer) as Row[]`,
    `const answer = await callTyped(client, one, input); use((answer ?? {}) as Row)`,
    `const work = async () => { for await (const page of client.pages(list, {})) use(page as never) }`,
  ])('finds %s', (text) => {
    expect(answerCasts(readSource('src/cli/one.ts', text))).toHaveLength(1)
  })

  test.each([
    `const { code } = error as SvcError`,
    `const read = async () => (await client.call(one, {})).envelope; const status = 'open' as const`,
  ])('accepts %s', (text) => {
    expect(answerCasts(readSource('src/cli/one.ts', text))).toEqual([])
  })
})

import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { mentionsIn, refusalOf } from '../cli/printed-commands.ts'
import { rowsToRun } from '../whole.ts'
import { agrees, agreesLoosely, disagreements } from './doc-compare.ts'
import { readPage, type Step } from './doc-page.ts'
import { play, type Shown } from './doc-play.ts'
import type { Width } from './doc-shell.ts'

// Every command of README and the docs, typed on a colour terminal and through pipes.

const root = fileURLToPath(new URL('../../', import.meta.url))
const docs = readdirSync(`${root}docs`)
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`)
const pages = new Map<string, Step[]>()
for (const name of ['README.md', ...docs]) {
  const steps = readPage(root + name)
  if (steps.length > 0) pages.set(name, steps)
}

const played = new Map<string, Promise<Shown[]>>()
/** Each page is played once at each width, for all its tests. */
const shownBy = (name: string, width: Width): Promise<Shown[]> => {
  const key = `${name} ${width}`
  if (!played.has(key)) played.set(key, play(pages.get(name)!, width))
  return played.get(key)!
}

/** Tables, prompts and long messages: typed on a narrow terminal and through pipes also where the others are typed once. */
const inEachWay = new Set(['README.md'])

const endsOf = (steps: Step[], shown: Shown[]): string[] =>
  shown.map(({ exit }, i) => `${steps[i]!.line}: ${exit} ${steps[i]!.command}`)

describe.concurrent.each([...pages.keys()])('%s', (name) => {
  const steps = pages.get(name)!

  test('matches the real output exactly at 100 columns', async () => {
    expect(disagreements(steps, await shownBy(name, 100), agrees)).toEqual([])
  })

  test('prints only commands that exist', async () => {
    const printed = (await shownBy(name, 100)).flatMap(({ lines }) =>
      lines.filter((line) => /^(?:hint:| *next:)|^svc: /.test(line)),
    )
    const refusals = await Promise.all(printed.flatMap(mentionsIn).map(refusalOf))
    expect(refusals.filter((why) => why !== undefined)).toEqual([])
  })

  test.each(rowsToRun([60, 200], (width) => width === 60 && inEachWay.has(name)))(
    'matches the real output at %i columns',
    async (width) => {
      expect(disagreements(steps, await shownBy(name, width), agreesLoosely)).toEqual([])
    },
  )

  test.each(rowsToRun([undefined], () => inEachWay.has(name)))(
    'has the same exit codes through pipes, without colour',
    async (width) => {
      const [onTerminal, piped] = await Promise.all([shownBy(name, 100), shownBy(name, width)])
      expect(endsOf(steps, piped)).toEqual(endsOf(steps, onTerminal))
      expect(piped.filter(({ written }) => written.includes('\u001b'))).toEqual([])
    },
  )
})

test('the remaining commands of README are those that .ci/run runs', () => {
  const blocks = [...readFileSync(`${root}README.md`, 'utf8').matchAll(/^```(?!console|$).*\n([^]*?)^```$/gm)]
  expect(blocks.map(([, text]) => text)).toEqual(['npm ci && npm run demo\n', 'npm ci && npm test\n'])
  const ci = readFileSync(`${root}.ci/run`, 'utf8')
  for (const command of ['npm ci', 'npm run --silent demo', 'npm test']) expect(ci).toContain(command)
})

import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandTree, openContext } from '../../../src/cli/main.ts'
import { describeCommand, type CommandNode } from '../../../src/cli/program/command-node.ts'
import { shellQuote } from '../../../src/core/shell-quote.ts'
import { commandWords } from '../../command-words.ts'
import { json, startFakeHosted, type FakeHosted } from '../../fake-hosted.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { hintProblems, type Mistake } from '../follow-hints.ts'
import { memoryIo } from '../memory-io.ts'
import { svc } from '../svc.ts'

// One mistake of each kind in the example of every command. The hint is typed as it is printed.

let service: FakeHosted
const { path: cwd, remove } = temporaryFolder()
beforeAll(async () => {
  service = await startFakeHosted()
  service.always(json(404, { status: 'error', message: 'Not found' }))
  writeFileSync(join(cwd, 'deploy.sh'), '#!/bin/sh\n')
  chmodSync(join(cwd, 'deploy.sh'), 0o755)
  await run(['profile', 'create', 'default', '--base-url', service.baseUrl], '')
})
afterAll(async () => {
  await service.close()
  remove()
})

const run = (argv: string[], stdin: string) =>
  svc(argv, {
    cwd,
    stdin,
    signal: AbortSignal.timeout(5000),
    env: {
      HOME: cwd,
      SVC_CONFIG_DIR: cwd,
      SVC_BASE_URL: service.baseUrl,
      SVC_API_KEY: 'svc_op_1a2b3c4d_key',
    },
  })

type Leaf = { words: string[]; node: CommandNode; argv: string[] }

/** Another id than that of the example, so that a hint cannot have it from there. */
const otherIds = (word: string, i: number, argv: string[]): string =>
  (word === 'acme' && argv[i - 1] === '--org') || /^\d{1,2}$/.test(word) ? '4711' : word

const leaves = (node: CommandNode, words: string[] = []): Leaf[] => {
  if (node.commands.length > 0) return node.commands.flatMap((child) => leaves(child, [...words, child.name]))
  const [, line = words.join(' ')] = /^ {2}(?:[A-Z_]+=\S+ )*svc (.*)$/m.exec(node.after) ?? []
  return [{ words, node, argv: commandWords(line.split(/ [<>|#] /)[0]!).map(otherIds) }]
}

const before = (argv: string[], ...more: string[]): string[] => {
  const end = argv.indexOf('--')
  return argv.toSpliced(end < 0 ? argv.length : end, 0, ...more)
}
const without = (argv: string[], flag: string): string[] => {
  const at = argv.indexOf(flag)
  return at < 0 ? argv : argv.toSpliced(at, 2)
}
const long = ({ flags }: { flags: string }): string => /--[\w-]+/.exec(flags)![0]
/** The last two letters of a flag, exchanged. */
const misspelt = (flag: string): string => flag.slice(0, -2) + flag.at(-1) + flag.at(-2)

const mistakesIn = ({ words, node, argv }: Leaf): Mistake[] => {
  const flags = node.flags.filter(({ takesValue }) => takesValue)
  const [typed] = flags.filter((flag) => argv.includes(long(flag))).map(long)
  const required = flags.filter((flag) => flag.required && argv.includes(long(flag))).map(long)
  const choice = flags.find(({ choices }) => choices.length > 0)
  const last = flags.at(0)
  const wrongFlag = misspelt(typed ?? '--no-color')
  return [
    ...(node.repeats ? [] : [{ argv: before(argv, 'surplus'), wrong: ['surplus'] }]),
    typed === undefined
      ? { argv: before(argv, wrongFlag), wrong: [wrongFlag] }
      : { argv: argv.map((word) => (word === typed ? wrongFlag : word)), wrong: [wrongFlag] },
    ...required.map((flag) => ({ argv: without(argv, flag) })),
    ...(typed === undefined
      ? []
      : [{ argv: before(argv, typed, argv[argv.indexOf(typed) + 1]!), wrong: [typed] }]),
    ...(choice
      ? [{ argv: before(without(argv, long(choice)), long(choice), 'bogus'), wrong: ['bogus'] }]
      : []),
    ...(last && !argv.includes('--') && required.length < 2
      ? [{ argv: [...without(argv, long(last)), long(last)], wrong: [long(last)] }]
      : []),
    ...(argv[words.length]?.startsWith('-') === false ? [{ argv: argv.toSpliced(words.length, 1) }] : []),
  ]
}

const notRun = new Set(['serve', 'demo', 'mcp', 'top', 'hook'])
const commands = leaves(describeCommand(await commandTree(openContext(memoryIo())))).filter(
  ({ words }) => !notRun.has(words[0]!),
)

describe('each hint for a mistake can be typed and leaves nothing out:', () => {
  test.each(commands)('svc $words', async (leaf) => {
    const problems = []
    for (const { argv, wrong = [] } of mistakesIn(leaf)) {
      // A hint may lead to another command of the group if nothing but this one was typed.
      const mayGo = [...wrong, ...leaf.words.slice(-1)]
      problems.push(...(await hintProblems({ argv, wrong: mayGo }, run)))
    }
    const wrongHints = problems.filter((one) => !one.startsWith('is no mistake'))
    expect(wrongHints).toEqual([])
  })
})

test('that is several hundred mistakes', () => {
  const lines = commands.flatMap(mistakesIn).map(({ argv }) => argv.map(shellQuote).join(' '))
  expect(new Set(lines).size).toBeGreaterThan(450)
})

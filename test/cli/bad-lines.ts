import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import type { CommandNode, FlagNode } from '../../src/cli/program/command-node.ts'
import { exits } from '../../src/core/exit-codes.ts'
import { commandWords } from '../command-words.ts'
import { memoryIo, type MemoryIo } from './memory-io.ts'
import { patienceMs } from '../patience.mts'

// Command lines that are wrong in one of many ways, generated from the help examples of every command.

export type BadLine = { kind: string; argv: string[] }

/** They run until they are stopped, or play a script of their own. */
const notRun = new Set(['serve', 'demo', 'mcp'])

type Leaf = { words: string[]; node: CommandNode }
const leaves = (node: CommandNode, words: string[] = []): Leaf[] =>
  node.commands.length === 0
    ? [{ words, node }]
    : node.commands.flatMap((child) => leaves(child, [...words, child.name]))

/** The first example of a command, without shell syntax. The organization that the other lines use is not deleted. */
const exampleOf = ({ words, node }: Leaf): string[] =>
  commandWords(
    (/^ {2}svc (.*)$/m.exec(node.after)?.[1] ?? words.join(' '))
      .replace(/ (?:[<>|#]|--with-key).*$/, '')
      .replace(/^org delete acme/, 'org delete globex'),
  )

const nasty = fc.constantFrom(
  '',
  ' ',
  '-',
  '--',
  '@',
  '@/nowhere/file',
  'x'.repeat(100_000),
  '0',
  '-1',
  '1e999',
  '99999999999999999999',
  '1.5',
  'NaN',
  'null',
  '{}',
  '[[]]',
  '{"__proto__":{"a":1}}',
  '__proto__',
  'a=b=c',
  '=',
  '../../etc/passwd',
  "'; DROP TABLE users; --",
  '$(touch pwned)',
  '\u0000',
  '\u001b[2J\u0007',
  '\u202eevil',
  '\ud800',
  'ünïcödé 🙂',
  'line\nbreak',
)

const flagNames = ({ flags }: FlagNode): string[] =>
  flags.split(/[ ,]+/).filter((word) => word.startsWith('--'))

type Make = (leaf: Leaf, base: string[], draw: { value: string; at: number; other: Leaf }) => string[]

const without = (base: string[], at: number): string[] => base.filter((_, i) => i !== at)
const within = (base: string[], at: number): number => at % Math.max(base.length, 1)
const anyFlag = (leaf: Leaf, at: number, all: FlagNode[]): string[] => {
  const flags = [...leaf.node.flags, ...all]
  const flag = flags[at % flags.length]!
  return [flagNames(flag)[0]!, ...(flag.takesValue ? ['?'] : [])]
}

const kinds = (all: FlagNode[]): Record<string, Make> => ({
  'unknown command': ({ words }, base, { at }) => {
    const i = at % words.length
    return base.map((word, n) => (n === i ? `${word.slice(0, -1)}x` : word))
  },
  'unknown flag': (_, base, { at }) => [
    ...base,
    `--${['orgg', 'nmae', 'lattitude', 'froce', 'x'][at % 5]}`,
    'x',
  ],
  'wrong value': ({ words }, base, { value, at }) => {
    const i = words.length + within(base.slice(words.length), at)
    return base.map((word, n) => (n === i && !word.startsWith('--') ? value : word))
  },
  'wrong flag value': (leaf, base, { value, at }) => [
    ...base,
    ...anyFlag(leaf, at, all).map((word) => (word === '?' ? value : word)),
  ],
  'missing word': ({ words }, base, { at }) =>
    without(base, words.length + within(base.slice(words.length), at)),
  'missing value': (leaf, base, { at }) => [...base, anyFlag(leaf, at, all)[0]!],
  'one word more': (_, base, { value }) => [...base, value],
  'repeated flag': (leaf, base, { value, at }) => {
    const [flag, ...rest] = anyFlag(leaf, at, all)
    return [...base, flag!, ...rest.map(() => value), flag!, ...rest.map(() => 'x')]
  },
  'conflicting flags': (_, base, { at }) => [
    ...base,
    ...[
      ['--jq', '.', '-o', 'table'],
      ['--yes', '--confirm', 'x'],
      ['--input', '-', '--key-file', '-'],
      ['--dry-run', '--jq', '{'],
    ][at % 4]!,
  ],
  'wrong order': (_, base, { at }) => [...base.slice(within(base, at)), ...base.slice(0, within(base, at))],
  'flags of another command': (_, base, { other }) => [
    ...base,
    ...exampleOf(other).slice(other.words.length),
  ],
  'flags alone': (leaf, _, { value, at }) => [
    ...leaf.words,
    ...anyFlag(leaf, at, all).map((word) => (word === '?' ? value : word)),
  ],
})

/** Generates `count` lines, always the same for a seed. */
export const badLines = (tree: CommandNode, count: number, seed: number): BadLine[] => {
  const commands = leaves(tree).filter(({ words }) => !notRun.has(words[0]!))
  // `--debug` prints stacks on purpose.
  const makes = kinds(tree.flags.filter(({ flags }) => flags !== '--debug'))
  const line = fc.record({
    leaf: fc.constantFrom(...commands),
    other: fc.constantFrom(...commands),
    kind: fc.constantFrom(...Object.keys(makes)),
    value: nasty,
    at: fc.nat(),
  })
  return fc.sample(line, { numRuns: count, seed }).map(({ leaf, kind, ...draw }): BadLine => ({
    kind,
    argv: makes[kind]!(leaf, exampleOf(leaf), draw),
  }))
}

export type Runner = (argv: string[], io: MemoryIo) => Promise<number>
type World = {
  run: Runner
  env: Record<string, string>
  cwd: string
  /** Changes with every write to the service. */
  written(): Promise<string>
}

const documented = new Set<number>(Object.values(exits).flatMap(([code]) => [code, code + 100]))

const profilesIn = ({ SVC_CONFIG_DIR: dir }: Record<string, string>): string => {
  const file = join(dir!, 'profiles.json')
  return existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : ''
}

// oxlint-disable-next-line no-control-regex
const raw = /[\u0000-\u0008\u000b-\u001f\u007f\u202e]/

/** What is wrong with the result of a line, or undefined. */
export const problemOf = async (
  { argv }: BadLine,
  world: World,
): Promise<{ exit: number; problem?: string }> => {
  const { run, env, cwd, written } = world
  const before = [await written(), profilesIn(env)]
  const io = memoryIo({ env, cwd, signal: AbortSignal.timeout(1_500) })
  const late = new Promise<number>((resolve) => setTimeout(resolve, patienceMs, -1).unref())
  const exit = await Promise.race([run(argv, io).catch(() => -2), late])
  // The service records a failed login of a machine.
  const mayWrite =
    exit === 0 || exit === 10 || exit === 11 || (exit === 4 && argv.join(' ').startsWith('iot login '))
  const changed = JSON.stringify(before) !== JSON.stringify([await written(), profilesIn(env)])
  // A right line of a command that goes on until somebody stops it.
  const isStopped = exit === 130 && argv.join(' ').startsWith('events tail ')
  const output = io.out() + io.err()
  const problem = [
    exit === -1 && 'hangs',
    exit === -2 && 'throws',
    !documented.has(exit) && `exit ${exit} is not documented`,
    /\n {4}at |Something went wrong inside|internal/.test(output) && 'shows its inside',
    raw.test(io.err()) && 'prints control characters',
    !isStopped && exit !== 0 && io.err() === '' && io.out() === '' && 'says nothing',
    !mayWrite && changed && `exit ${exit} after a write`,
    existsSync(join(cwd, 'pwned')) && 'runs what was typed',
  ].find((one) => one !== false)
  return { exit, ...(problem !== undefined && { problem }) }
}

import { describe, expect, test } from 'vitest'
import { commandTree, openContext } from '../../../src/cli/main.ts'
import { describeCommand, type CommandNode } from '../../../src/cli/program/command-node.ts'
import { memoryIo } from '../memory-io.ts'
import { svc } from '../svc.ts'

type Leaf = CommandNode & { words: string[] }

const leaves = (node: CommandNode, words: string[] = []): Leaf[] =>
  node.commands.length === 0
    ? [{ ...node, words }]
    : node.commands.flatMap((child) => leaves(child, [...words, child.name]))

const commands = leaves(describeCommand(await commandTree(openContext(memoryIo()))))
// Nothing listens there: a command that sends a request fails as unreachable.
const env = { SVC_BASE_URL: 'http://127.0.0.1:9/admin/public/api', SVC_API_KEY: 'k' }

const flagsOf = ({ flags }: Leaf): string[] =>
  flags.filter(({ required }) => required !== null).map(({ flags: names }) => names.split(' ')[0]!)

/** Arguments of commands that miss them first. */
const argumentsOf = ({ args: [name] }: Leaf): string[] =>
  name === 'command' ? ['--', '/bin/true'] : name === 'file' ? ['-'] : []

/** The commands that start something lasting, or read standard input first. */
const notRun = new Set(['serve', 'mcp', 'demo', 'top', 'hook'])

describe('the required flags in the help are the ones that the command requires', () => {
  test.each(commands.filter(({ words }) => !notRun.has(words[0]!)))('svc $words', async (leaf) => {
    const { message = '' } = await svc([...leaf.words, ...argumentsOf(leaf)], { env })
    const missing = /^Missing (.*)$/.exec(message)?.[1]?.match(/--[\w-]+/g) ?? []
    expect(flagsOf(leaf)).toEqual(missing)
  })
})

test.each([['geofence list', 'Organization, id or slug (default: SVC_ORG or the profile; not with --user)']])(
  'the help of svc %s says when a flag is not required',
  async (words, text) => {
    const { out } = await svc(`${words} --help`, { columns: 100 })
    expect(out.replace(/\n +/g, ' ')).toContain(text)
    expect(out).toContain('\nRequired flags (asked for on a terminal):\n')
  },
)

import { expect, test } from 'vitest'
import { describeCommand, type CommandNode } from '../../../src/cli/program/command-node.ts'
import { topics } from '../../../src/cli/program/help-topics.ts'
import { commandTree, openContext } from '../../../src/cli/main.ts'
import { memoryIo } from '../memory-io.ts'
import { svc } from '../svc.ts'

const run = (line: string) => svc(line, { columns: 100 })

/** The commands without subcommands, with their words. */
const leaves = (node: CommandNode, words: string[] = []): [string, CommandNode][] =>
  node.commands.length === 0
    ? [[words.join(' '), node]]
    : node.commands.flatMap((child) => leaves(child, [...words, child.name]))

test('svc help lists the topics', async () => {
  const { exit, out } = await run('help')
  expect(exit).toBe(0)
  for (const name of Object.keys(topics)) expect(out).toContain(`  ${name}`)
})

test.each(['', ...Object.keys(topics)])('svc help %s fits a terminal of 80 columns', async (topic) => {
  const { exit, out } = await svc(`help ${topic}`, { columns: 80 })
  expect(exit).toBe(0)
  expect(out.split('\n').filter((line) => line.length > 80)).toEqual([])
})

test('svc help with the words of a command prints its --help', async () => {
  const [asTopic, asFlag] = [await run('help org create'), await run('org create --help')]
  expect([asTopic.exit, asTopic.out, asTopic.err]).toEqual([0, asFlag.out, ''])
  expect(asTopic.out).toContain('Usage: svc org create')
})

test('an unknown topic is rejected with the nearest one', async () => {
  expect(await run('help exitcodes')).toMatchObject({
    exit: 2,
    err: expect.stringContaining('hint: svc help exit-codes'),
  })
  expect((await run('help nothing-at-all')).err).toContain('hint: svc help\n')
})

test('the help of every command contains an example', async () => {
  const tree = describeCommand(await commandTree(openContext(memoryIo())))
  const bare = leaves(tree).filter(([words, { after }]) => !after.includes(`svc ${words}`))
  expect(bare.map(([words]) => words)).toEqual([])
})

import { expect, test } from 'vitest'
import { describeCommand, type CommandNode } from '../../src/cli/program/command-node.ts'
import { commandTree, openContext } from '../../src/cli/main.ts'
import { memoryIo } from '../cli/memory-io.ts'
import { svc as inProcess } from '../cli/svc.ts'
import { svc } from './processes.ts'

const every = (node: CommandNode, words: string[] = []): string[][] => [
  words,
  ...node.commands.flatMap((child) => every(child, [...words, child.name])),
]

test('the help that the build generates is the help of the command tree', async () => {
  const tree = describeCommand(await commandTree(openContext(memoryIo())))
  const places = every(tree)
  expect(places.length).toBeGreaterThan(60)
  for (const words of [[], ['org'], ['geofence', 'create'], ['org', 'auth-code'], ['serve']]) {
    const { exit, out } = await inProcess([...words, '--help'], { columns: 100 })
    expect(exit).toBe(0)
    const written = await svc([...words, '--help'])
    expect(written).toEqual({ exit: 0, stdout: out, stderr: '' })
  }
  const { stdout: commands } = await svc(['commands'])
  expect(every(JSON.parse(commands) as CommandNode)).toEqual(places)
})

test('svc without arguments prints its help, and -h equals --help', async () => {
  const [bare, short, long] = await Promise.all([svc([]), svc(['org', '-h']), svc(['org', '--help'])])
  expect(bare.stdout).toMatch(/^Require a human approval/)
  expect(short).toEqual(long)
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeCommand, type CommandNode } from '../../src/cli/program/command-node.ts'
import { commandTree, openContext } from '../../src/cli/main.ts'
import { memoryIo } from './memory-io.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { svc } from './svc.ts'

const { path: dir, remove } = temporaryFolder()
afterAll(remove)

// Nothing listens there: a command that sends a request fails as unreachable.
const env = {
  SVC_BASE_URL: 'http://127.0.0.1:9/admin/public/api',
  SVC_API_KEY: 'k',
  SVC_CONFIG_DIR: dir,
}
const run = (command: string | string[]) => svc(command, { env })
const body = async (...argv: string[]): Promise<unknown> => {
  const { out, err } = await run([...argv, '--dry-run', '-o', 'json'])
  return (JSON.parse(out || err) as { body?: unknown }).body
}

type Leaf = CommandNode & { words: string }
const leaves = (node: CommandNode, words: string[] = []): Leaf[] =>
  node.commands.length === 0
    ? [{ ...node, words: words.join(' ') }]
    : node.commands.flatMap((child) => leaves(child, [...words, child.name]))
let commands: Leaf[]
beforeAll(async () => {
  commands = leaves(describeCommand(await commandTree(openContext(memoryIo()))))
})

describe('every command', () => {
  test('has arguments and flags of lower-case words and hyphens', () => {
    const names = commands.flatMap(({ words, args, flags }) => [
      ...args.map((name) => [words, name]),
      ...flags.flatMap((flag) => [...flag.flags.matchAll(/--([^\s,]+)/g)].map(([, name]) => [words, name])),
    ])
    expect(names.length).toBeGreaterThan(400)
    expect(names.filter(([, name]) => !/^[a-z]+(?:-(?:[a-z]+|\d))*$/.test(name!))).toEqual([])
  })

  test('calls its flags "flags", after the arguments', () => {
    expect(commands.filter(({ usage }) => /\[options\]|\[flags\] *</.test(usage))).toEqual([])
  })

  test('uses one name for one thing', () => {
    const old = /--(?:lat|lon|lng|zone|tz|[a-z-]+-(?:s|m|ms))\b|^(?!group add$)(?:\S+ )+(?:add|new)$/
    const texts = commands.map(({ words, flags }) => [words, flags.map((flag) => flag.flags)])
    expect(texts.flat(2).filter((text) => old.test(text))).toEqual([])
  })
})

describe('days', () => {
  const slot = '--org 1 --name N --start 09:00 --end 17:00 --timezone UTC --days'.split(' ')
  test.each([
    ['mon-fri', ['mon', 'tue', 'wed', 'thu', 'fri']],
    ['mon,wed', ['mon', 'wed']],
    ['daily', ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']],
    ['Sat-Mon,wednesday', ['mon', 'wed', 'sat', 'sun']],
  ])('can be written as %s', async (written, days) => {
    expect(await body('timeslot', 'create', ...slot, written)).toMatchObject({ days })
    expect(await body('timeslot', 'update', '4', '--days', written)).toEqual({ days })
    const timeslots = JSON.stringify([{ name: 'N', days: written }])
    expect(await body('timeslot', 'set', '--user', '7', '--timeslots', timeslots)).toEqual({
      timeslots: [{ name: 'N', days }],
    })
  })

  test('that are invalid are rejected by the name of the flag', async () => {
    const { exit, err } = await run(['timeslot', 'create', ...slot, 'mon-fry'])
    expect(exit).toBe(2)
    expect(err).toMatch(/^svc: --days must be mon/)
  })
})

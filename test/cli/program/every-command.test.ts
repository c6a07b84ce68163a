import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { declarationOf, type Declaration, wordsOf } from '../../../src/cli/program/command-node.ts'
import { commandTree, openContext } from '../../../src/cli/main.ts'
import { formats } from '../../../src/cli/terminal/output.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { json, startFakeHosted, type FakeHosted } from '../../fake-hosted.ts'
import { memoryIo } from '../memory-io.ts'
import { svc } from '../svc.ts'

// Every command, including hand-written ones, with the example of its help.

type Typed = { words: string; argv: string[]; declared: Declaration }

const wordsIn = (line: string): string[] =>
  [...line.split(/ [>|<] | #/)[0]!.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain!,
  )

/** The examples of a command and of its subcommands. One without an example is typed bare. */
const typedOf = (command: Command): Typed[] => {
  const below = command.createHelp().visibleCommands(command).flatMap(typedOf)
  if (below.length > 0 && command.name() !== 'mcp') return below
  const words = wordsOf(command).join(' ')
  const declared = declarationOf(command)
  const examples = (declared.examples ?? []).flatMap((line) => {
    const [, after] = /^(?:[A-Z_]+=\S+ )*svc (.+)$/.exec(line) ?? []
    return after === undefined ? [] : [wordsIn(after)]
  })
  const own = examples.find((argv) => argv.join(' ').startsWith(words))
  return [{ words, argv: own ?? wordsOf(command), declared }, ...below]
}

const typed = typedOf(await commandTree(openContext(memoryIo())))

let service: FakeHosted
const folder = temporaryFolder()
beforeAll(async () => {
  service = await startFakeHosted()
  service.always(json(404, { status: 'error', message: 'Not found' }))
})
afterAll(async () => {
  await service.close()
  folder.remove()
})

const failing = async (argv: string[]) => {
  const sent = service.seen.length
  const { exit, out, err } = await svc(argv, {
    cwd: folder.path,
    env: { SVC_CONFIG_DIR: folder.path, SVC_BASE_URL: service.baseUrl, SVC_API_KEY: 'svc_op_1a2b3c4d_key' },
  })
  return { exit: exit % 100, out, err, sent: service.seen.length - sent }
}

/** Inserts flags before `--`, after which nothing is a flag of svc. They replace the format of the example. */
const withFlags = (example: string[], flags: string[]): string[] => {
  const argv = example.filter((word, i) => word !== '-o' && example[i - 1] !== '-o')
  const end = argv.indexOf('--')
  return end < 0 ? [...argv, ...flags] : [...argv.slice(0, end), ...flags, ...argv.slice(end)]
}

const faults: [fault: string, flags: string[], says: RegExp][] = [
  ['an invalid filter', ['--jq', '.['], /is not a valid filter|does not support --jq/],
  ['an unknown format', ['-o', 'xml'], /-o must be|does not support -o/],
  ['a filter and -o csv', ['--jq', '.', '-o', 'csv'], /cannot be combined with -o csv|does not support --jq/],
]

describe.each(typed)('svc $words', ({ words, argv, declared: { prints, hasId } }) => {
  test.each(faults)('rejects %s before anything is sent', async (_fault, flags, says) => {
    const { exit, out, err, sent } = await failing(withFlags(argv, flags))
    expect(err).toMatch(says)
    expect({ exit, out, sent }).toEqual({ exit: 2, out: '', sent: 0 })
  })

  test('rejects an invalid filter in every format before anything is sent', async () => {
    for (const format of formats) {
      const { exit, out, err, sent } = await failing(withFlags(argv, ['--jq', '.[', '-o', format]))
      expect(err).toMatch(
        /is not a valid filter|cannot be combined with -o|does not support|has no id in its answer/,
      )
      expect({ format, exit, out, sent }).toEqual({ format, exit: 2, out: '', sent: 0 })
    }
  })

  test.runIf(!prints && !hasId)('refuses -o id, since it answers none', async () => {
    const { exit, out, err, sent } = await failing(withFlags(argv, ['-o', 'id']))
    expect(err).toContain(`svc ${words} has no id in its answer`)
    expect({ exit, out, sent }).toEqual({ exit: 2, out: '', sent: 0 })
  })

  test.runIf(prints)('refuses flags that it would ignore', async () => {
    for (const flags of [
      ['--jq', '.'],
      ['-o', 'csv'],
    ]) {
      const { exit, out, err } = await failing(withFlags(argv, flags))
      expect(err).toContain(`svc ${words} does not support ${flags[0] === '-o' ? '-o csv' : flags[0]}`)
      expect({ exit, out }).toEqual({ exit: 2, out: '' })
    }
  })
})

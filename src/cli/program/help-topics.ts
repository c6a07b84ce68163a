import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { environment } from '../../core/env.ts'
import { exits } from '../../core/exit-codes.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { nearest } from '../../core/nearest.ts'
import { defineCommand } from './define-command.ts'
import { type Row, section, wrapProse } from './help-text.ts'
import { helpWidth } from './program.ts'

/** The commented configuration of `svc serve`: beside the built program, or in the documentation of the source tree. */
export const sampleConfig = (): string => {
  const here = dirname(fileURLToPath(import.meta.url))
  const file = [join(here, 'svc.sample.yaml'), join(here, '../../../docs/svc.sample.yaml')].find((one) =>
    existsSync(one),
  )
  if (file === undefined)
    throw new SvcError('failed', 'no_sample', 'The sample configuration is missing from this installation', {
      hint: 'Install svc again',
    })
  return readFileSync(file, 'utf8').trimEnd()
}

export type Topic = { about: string; text(width: number): string }

/** Rows under a heading with an empty line in between, and what follows them. */
const page = (heading: string, rows: Row[], width: number, after: string): string => {
  const [, , ...lines] = section(heading, rows, width).split('\n')
  return `${wrapProse(heading, width)}\n\n${lines.join('\n')}\n${wrapProse(after, width)}`
}

/** What `svc help TOPIC` explains. */
export const topics: Record<string, Topic> = {
  'exit-codes': {
    about: 'exit codes of svc',
    text: (width) =>
      page(
        'Exit codes:',
        Object.values(exits).map(([code, text]): Row => [String(code), text]),
        width,
        `svc approve run exits with the code of its command, and svc guard exec too.
There, svc adds 100 to its own codes: 106 means denied.
svc approve verify exits with 0 for a valid receipt and with 1 for any other.`,
      ),
  },
  environment: {
    about: 'environment variables',
    text: (width) =>
      page(
        'Environment variables. A flag overrides a variable; a variable overrides the profile:',
        Object.entries(environment),
        width,
        'svc also reads HTTPS_PROXY, HTTP_PROXY, NO_PROXY, NO_COLOR and FORCE_COLOR.',
      ),
  },
  configuration: {
    about: 'a commented configuration file for svc serve --config',
    text: sampleConfig,
  },
  formatting: {
    about: 'output formats and filters',
    text: (width) =>
      page(
        'Output formats and filters:',
        [
          ['-o table', 'a table; the default on a terminal'],
          ['-o tsv', 'tab-separated values without a header; the default in a pipe'],
          ['-o csv', 'comma-separated values with a header'],
          ['-o json', 'the data as JSON'],
          ['-o ndjson', 'one JSON document per row'],
          ['-o yaml', 'the data as YAML'],
          ['-o id', 'one id per line'],
          ['--jq EXPR', 'filter the JSON with jq'],
          ['--reveal', 'show phone numbers, e-mail addresses and credentials in full'],
        ],
        width,
        `Formats for machines print only the data on standard output; everything else goes to standard error. Tables on a terminal mask phone numbers, e-mail addresses and credentials, and show times relative to now.

svc checks all of this before it sends anything. Exit code 11 means that a change was made but its answer could not be shown as requested: the whole answer is on standard output.

  svc user list --org acme -o csv > users.csv
  svc org list --jq '.[].slug'
  svc geofence list --org acme -o id | xargs -n 1 svc geofence get --org acme`,
      ),
  },
}

const list = (width: number): string => {
  const rows = Object.entries(topics).map(([name, { about }]): Row => [name, about])
  const after =
    'svc help TOPIC explains a topic, svc COMMAND --help a command. svc --help lists all commands.'
  return `${section('Topics:', rows, width).trimStart()}\n${wrapProse(after, width)}`
}

/** `svc help`, `svc help TOPIC`, and `svc help COMMAND…` as `svc COMMAND… --help`. */
export const registerHelp = defineCommand({
  usage: '[topic | command]',
  args: ['[words...]'],
  examples: ['svc help exit-codes'],
  prints: [],
  action: async ({ args: words }, { io }, program) => {
    const width = helpWidth(io)
    const [first = ''] = words
    if (words.length === 0) return io.stdout.write(`${list(width)}\n`)
    if (words.length === 1 && Object.hasOwn(topics, first))
      return io.stdout.write(`${topics[first]!.text(width)}\n`)
    const tree = await program.tree(words)
    const groups = tree.commands.map((one) => one.name())
    if (groups.includes(first)) return tree.parseAsync([...words, '--help'], { from: 'user' })
    const meant = nearest(first, [...Object.keys(topics), ...groups])
    throw usageError(`There is no help topic "${words.join(' ')}"`, meant ? `svc help ${meant}` : 'svc help')
  },
})

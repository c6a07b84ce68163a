import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { attempted } from '../../core/attempted.ts'
import { wrap } from '../terminal/wrap.ts'
import type { CommandNode, FlagNode } from './command-node.ts'

export type Row = [term: string, about: string]

/** The width of the first column. */
const columnOf = (rows: Row[]): number => Math.min(Math.max(...rows.map(([term]) => term.length)), 34)

/** Rows under a heading in two columns; long text wraps within its column. */
export const section = (heading: string, rows: Row[], width: number, column = columnOf(rows)): string => {
  if (rows.length === 0) return ''
  const lines = rows.flatMap(([term, about]) => {
    const [first = '', ...rest] = wrap(about, Math.max(width - column - 4, 30))
    const wide = term.length > column
    return [
      ...(wide ? [`  ${term}`] : []),
      `  ${wide ? ' '.repeat(column) : term.padEnd(column)}  ${first}`,
      ...rest.map((line) => `${' '.repeat(column + 4)}${line}`),
    ]
  })
  return `\n${heading}\n${lines.map((line) => line.trimEnd()).join('\n')}\n`
}

/** Wraps prose. Indented lines, which can be typed or belong to a file, stay whole. */
export const wrapProse = (text: string, width: number): string =>
  text
    .split('\n')
    .flatMap((line) => (line.startsWith(' ') ? [line] : wrap(line, width)))
    .join('\n')

const everywhere = 'Flags of every command: -p PROFILE, -o FORMAT, --jq FILTER and more (svc --help)'

/** A description with a note in parentheses. */
export const withNote = (about: string, note?: string): string => (note ? `${about} (${note})` : about)

const helpRow: Row = ['-h, --help', 'Show help']

const commandRow = ({ name, about }: CommandNode): Row => [name, about]

const flagRow = ({ flags, about, required }: FlagNode): Row => [flags, withNote(about, required?.note)]

/** The help of a command. `words` is its path from `svc`. */
export const helpText = (node: CommandNode, words: readonly string[], width: number): string => {
  const needed = node.flags.filter(({ required }) => required !== null)
  const optional = node.flags.filter(({ required }) => required === null)
  const flags = [...optional.map(flagRow), helpRow]
  const column = columnOf([...needed.map(flagRow), ...flags])
  return [
    `${wrap(node.about, width).join('\n')}\n`,
    `\nUsage: ${['svc', ...words, node.usage].join(' ')}\n`,
    section(
      'Arguments:',
      node.choices.length > 0 ? [[`<${node.args[0]}>`, node.choices.join(', ')]] : [],
      width,
    ),
    ...[...new Set(node.commands.map(({ heading }) => heading))].map((heading) =>
      section(
        `${heading || 'Commands'}:`,
        node.commands.filter((one) => one.heading === heading).map(commandRow),
        width,
        columnOf(node.commands.map(commandRow)),
      ),
    ),
    section(
      `Required flags${needed.every(({ required }) => required!.asked) ? ' (asked for on a terminal)' : ''}:`,
      needed.map(flagRow),
      width,
      column,
    ),
    section('Flags:', flags, width, column),
    // The root lists them itself.
    words.length === 0 ? '' : `\n${wrap(everywhere, width).join('\n')}\n`,
    node.after,
  ].join('')
}

/**
 * The command tree that the build saved: a line for the root and one for each group, so that help parses only the group that
 * it shows. Undefined when svc runs from its sources.
 */
export const prebuiltTree = (only?: string): CommandNode | undefined =>
  attempted(() => {
    const lines = readFileSync(join(__dirname, 'help.ndjson'), 'utf8').split('\n')
    const root = JSON.parse(lines[0]!) as CommandNode
    const commands = root.commands.map((one, i): CommandNode =>
      (only ?? one.name) === one.name ? JSON.parse(lines[i + 1]!) : one,
    )
    return { ...root, commands }
  })

/**
 * Help from the saved command tree, which is fast. Undefined if `argv` has more than words and -h or --help, or an
 * unknown word: then the real command tree prints the help.
 */
export const prebuiltHelp = (argv: readonly string[], width: number): string | undefined => {
  const words = argv.slice(0, -1)
  const asks = argv.length === 0 || argv.at(-1) === '--help' || argv.at(-1) === '-h'
  if (!asks || words.some((word) => word.startsWith('-'))) return undefined
  const node = words.reduce<CommandNode | undefined>(
    (at, word) => at?.commands.find(({ name }) => name === word),
    prebuiltTree(words[0] ?? ''),
  )
  return node && wrapProse(helpText(node, words, width), width)
}

import type { Command, Help } from 'commander'

type Row = [term: string, about: string]

/** Rows under a heading, in two columns; long text goes on under itself. */
const section = (heading: string, rows: Row[], width: number): string => {
  if (rows.length === 0) return ''
  const column = Math.min(Math.max(...rows.map(([term]) => term.length)), 34)
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

const wrap = (text: string, width: number): string[] =>
  text.split(' ').reduce<string[]>((lines, word) => {
    const last = lines.at(-1)
    if (last !== undefined && `${last} ${word}`.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
    return lines
  }, [])

/** Help as svc has it: what it does, how it is typed, its commands, its flags. */
export const formatHelp = (command: Command, helper: Help): string => {
  const width = helper.helpWidth ?? 100
  const commands = helper
    .visibleCommands(command)
    .map((child): Row => [child.name(), helper.subcommandDescription(child)])
  const flags = helper
    .visibleOptions(command)
    .map((option): Row => [helper.optionTerm(option), helper.optionDescription(option)])
  return [
    `${wrap(command.description(), width).join('\n')}\n`,
    `\nUsage: ${helper.commandUsage(command)}\n`,
    section('Commands:', commands, width),
    section('Flags:', flags, width),
  ].join('')
}

import type { Command } from 'commander'
import { environment } from '../../core/env.ts'
import { usageError } from '../../core/errors.ts'
import { exits } from '../../core/exit-codes.ts'
import type { Context } from '../context.ts'

const rows = (pairs: [string | number, string][]): string => {
  const width = Math.max(...pairs.map(([name]) => String(name).length))
  return pairs.map(([name, text]) => `  ${String(name).padEnd(width)}  ${text}`).join('\n')
}

const topics: Record<string, () => string> = {
  'exit-codes': () =>
    `What svc exits with:\n\n${rows(Object.values(exits).map(([code, text]) => [code, text]))}\n\nsvc approve run exits as its command does; what svc itself says is 100 and the code: 106 denied.`,
  environment: () =>
    `Environment variables. A flag wins over them, they win over the profile:\n\n${rows(Object.entries(environment))}`,
  formatting: () =>
    `How answers are shown:\n\n${rows([
      ['-o table', 'a table; what a terminal gets'],
      ['-o tsv', 'values between tabs, no header; what a pipe gets'],
      ['-o csv', 'with a header'],
      ['-o json', "the answer's data as JSON"],
      ['-o ndjson', 'one JSON document a row'],
      ['-o yaml', "the answer's data as YAML"],
      ['-o id', 'ids alone, one a line'],
      ['--json a,b.c', 'only these fields, as JSON'],
      ['--jq EXPR', 'the JSON through jq'],
      ['--envelope', 'status and message too'],
      ['--reveal', 'phones, e-mails and credentials whole, also on a terminal'],
    ])}`,
}

/** `svc help TOPIC`. */
export const registerHelp = (command: Command, context: Context): void => {
  command
    .usage('<topic>')
    .argument('[topic]')
    .action((topic?: string) => {
      const text = topic === undefined ? undefined : Object.hasOwn(topics, topic) && topics[topic]
      if (!text)
        throw usageError(
          topic === undefined ? 'svc help needs a topic' : `There is no help about "${topic}"`,
          `svc help ${Object.keys(topics).join('|')}`,
        )
      context.io.stdout.write(`${text()}\n`)
    })
}

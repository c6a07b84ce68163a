import { resolve } from 'node:path'
import { type OperationId, table } from '../../contract/table.ts'
import { usageError } from '../../core/errors.ts'
import { parseJson } from '../../core/parse-json.ts'
import { nearest } from '../../core/nearest.ts'
import { isHoldable } from '../../rules/check.ts'
import type { Context } from '../context/context.ts'

export type TestedOptions = {
  cwd?: string
  request?: string
  file?: string
  tool?: string[]
  argument?: string[]
  text?: string
}

/** What is tested, as the operation takes it. */
export type Tested =
  | { type: 'command'; argv: readonly string[]; cwd: string }
  | { type: 'request'; operation: string }
  | { type: 'file'; file: string }
  | { type: 'tool_call'; server: string; tool: string; arguments: Record<string, unknown> }
  | { type: 'text'; text: string }

/** The words of a command that changes something. */
const readRequest = (typed: string): string => {
  const words = typed.trim().replace(/^svc /, '').split(/\s+/).join(' ')
  const ids = Object.keys(table) as OperationId[]
  const named = ids.filter((id) => table[id].cli === words)
  if (named.some(isHoldable)) return words
  const known = [...new Set(ids.filter(isHoldable).map((id) => table[id].cli))]
  if (named.length > 0)
    throw usageError(`--request: no rule can hold svc ${words}`, '--request "user delete"')
  const near = nearest(words, known)
  throw usageError(
    `--request must be a command of svc that makes one change, not "${words.slice(0, 60)}"; ${near === undefined ? 'svc user import and svc apply make many' : `did you mean "${near}"?`}`,
    `--request "${near ?? 'user delete'}"`,
  )
}

/** A number, `true`, `null` or other JSON is itself; the rest is text. */
const readArguments = (typed: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    typed.map((text) => {
      const at = text.indexOf('=')
      if (at < 1) throw usageError(`--argument must be name=value, not "${text}"`, '--argument branch=main')
      const value = text.slice(at + 1)
      return [text.slice(0, at), parseJson(value) ?? (value === 'null' ? null : value)]
    }),
  )

const readTool = ([server, tool, ...more]: readonly string[], values: readonly string[]): Tested => {
  if (server === undefined || tool === undefined || more.length > 0)
    throw usageError('--tool must be a server and a tool', '--tool github merge_pull_request')
  return { type: 'tool_call', server, tool, arguments: readArguments(values) }
}

/** Reads what is tested. Throws a usage error unless it is exactly one thing. */
export const readTested = async (
  argv: readonly string[],
  { cwd, request, file, tool, argument = [], text }: TestedOptions,
  { io, command }: Pick<Context, 'io' | 'command'>,
): Promise<Tested> => {
  const kinds: [name: string, read: (() => Tested) | undefined][] = [
    [
      'a command',
      argv.length > 0 ? () => ({ type: 'command', argv, cwd: resolve(io.cwd, cwd ?? '') }) : undefined,
    ],
    [
      '--request',
      request === undefined ? undefined : () => ({ type: 'request', operation: readRequest(request) }),
    ],
    ['--file', file === undefined ? undefined : () => ({ type: 'file', file })],
    ['--tool', tool && (() => readTool(tool, argument))],
    ['--text', text === undefined ? undefined : () => ({ type: 'text', text })],
  ]
  const [first, second] = kinds.filter(([, read]) => read)
  if (!first)
    throw usageError(
      'Nothing to test: name a command after --, or use --request, --file, --tool or --text',
      await command!.again({ plus: ['--', 'terraform', 'destroy'] }),
    )
  if (second) throw usageError(`${first[0]} and ${second[0]} cannot be combined`, 'Test one at a time')
  if (cwd !== undefined && argv.length === 0) throw usageError('--cwd belongs to a command after --')
  if (argument.length > 0 && !tool) throw usageError('--argument belongs to --tool')
  return first[1]!()
}

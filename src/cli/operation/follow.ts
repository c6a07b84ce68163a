import { rowsIn } from '../../client/answer-data.ts'
import type { Answer, Client } from '../../client/client.ts'
import { cursorIn } from '../../client/paging.ts'
import { sleepFor } from '../../core/sleep.ts'
import { mayComeBack } from '../../client/retry.ts'
import type { Operation } from '../../contract/operation.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { exitCode } from '../../core/exit-codes.ts'
import { withFullStop } from '../../core/sentence.ts'
import type { Context } from '../context/context.ts'
import type { Typed } from './flags.ts'
import { joined, listPages } from './list-rows.ts'
import type { Format, Output } from '../terminal/output.ts'
import type { Envelope, Shape } from '../terminal/payload.ts'
import { asTyped } from './typed-names.ts'

/** Milliseconds between polls. The service answers from memory while nothing changes. */
const pollMs = 1_500

/** Formats that can be printed row by row; the others are one document. */
const streaming = new Set<Format>(['table', 'tsv', 'ndjson', 'id'])

/** Number of printed rows that a table on a terminal stays aligned with. */
const mostAbove = 100

const checkFlags = async ({ command }: Context, options: Typed['options']): Promise<void> => {
  for (const flag of ['until', 'cursor'])
    if (options[flag] !== undefined)
      throw usageError(
        `--${flag} cannot be combined with --follow, which shows new rows`,
        await command!.again({ without: [`--${flag}`] }),
      )
}

/** Throws a usage error if the rows would be printed as one document, which a list without an end never is. */
export const arrivingOutput = async (what: string, context: Context): Promise<Output> => {
  const output = await context.output()
  const { jq, json, envelope, output: format } = context.globals
  const byRow = jq !== undefined || (json !== undefined && format === undefined)
  if (envelope || (!byRow && !streaming.has(output.format)))
    throw usageError(
      `${what} as they arrive, but ${envelope ? '--envelope' : `-o ${output.format}`} prints a single document`,
      await context.command!.again({ without: ['--output', '--envelope'], plus: ['-o', 'ndjson'] }),
    )
  return output
}

export type Patience = { signal: AbortSignal; warn: Output['warn'] }

/** The answers of a round, which starts again where it was after the service has been away. */
export async function* throughRestarts<T>(
  round: (isLost: boolean) => AsyncIterable<T>,
  { signal, warn }: Patience,
): AsyncGenerator<T, void> {
  for (let isLost = false; ;)
    try {
      for await (const answer of round(isLost)) {
        if (isLost) warn('The service is back.')
        isLost = false
        yield answer
      }
      return
    } catch (error) {
      if (!mayComeBack(error)) throw error
      if (!isLost) warn(`${withFullStop(error.message)} Retrying until it is back; press Ctrl-C to stop.`)
      isLost = true
      await sleepFor(pollMs, signal)
    }
}

type Arriving = Envelope & { data: readonly unknown[] }

/** Prints the rows of each answer, until Ctrl-C. */
export const printArriving = async (
  answers: AsyncIterable<Arriving>,
  { output, shape }: { output: Output; shape: Shape },
  context: Context,
): Promise<void> => {
  let above: unknown[] = []
  try {
    for await (const answer of answers) {
      if (answer.data.length === 0) continue
      await output.show(answer, { ...shape, above })
      above = [...above, ...answer.data].slice(-mostAbove)
    }
  } catch (error) {
    // Ctrl-C is the normal end.
    if (!(error instanceof SvcError) || error.exit !== 'interrupted') throw error
    context.exitCode = exitCode('interrupted')
  }
}

/** Yields new and changed rows with each poll. */
async function* changes(
  operation: Operation,
  client: Client,
  { input, cursor, ...patience }: { input: Record<string, unknown>; cursor: string } & Patience,
): AsyncGenerator<unknown[], never> {
  const { signal } = patience
  let at = cursor
  const round = (): AsyncIterable<Answer> =>
    client.pages(operation, { ...input, limit: undefined, cursor: at }, { signal })
  for (;;) {
    await sleepFor(pollMs, signal)
    for await (const answer of throughRestarts(round, patience)) {
      at = cursorIn(answer.links?.prev ?? answer.links?.next) ?? at
      yield rowsIn(operation, answer)
    }
  }
}

/** Shows the rows of a list by time, oldest first, and then each new or changed row until Ctrl-C. */
export const followList = async (
  operation: Operation,
  input: Record<string, unknown>,
  { options, shape }: { options: Typed['options']; shape: Shape },
  context: Context,
): Promise<void> => {
  const { signal } = context.io
  await checkFlags(context, options)
  const output = await arrivingOutput('--follow prints rows', context)
  const client = await context.client()
  const answers = async function* (): AsyncGenerator<Arriving, void> {
    const { envelope, newer } = await asTyped(
      operation,
      input,
      joined(listPages(operation, client, { input, options, signal })),
    )
    if (newer === undefined)
      throw new SvcError('failed', 'cannot_follow', 'This service does not support --follow', {
        hint: await context.command!.again({ without: ['--follow'] }),
      })
    const first = rowsIn(operation, { envelope }).toReversed()
    yield { ...envelope, data: first }
    // Consecutive answers overlap: skip the rows of the previous one.
    let seen = new Set(first.map((row) => JSON.stringify(row)))
    const following = { input, cursor: newer, signal, warn: output.warn }
    for await (const rows of changes(operation, client, following)) {
      yield { ...envelope, data: rows.filter((row) => !seen.has(JSON.stringify(row))) }
      seen = new Set(rows.map((row) => JSON.stringify(row)))
    }
  }
  await printArriving(answers(), { output, shape }, context)
}

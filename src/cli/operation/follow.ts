import { rowsIn } from '../../client/answer-data.ts'
import type { Client } from '../../client/client.ts'
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
import type { Shape } from '../terminal/payload.ts'
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

const outputFor = async (context: Context): Promise<Output> => {
  const output = await context.output()
  const { jq, json, envelope, output: format } = context.globals
  const byRow = jq !== undefined || (json !== undefined && format === undefined)
  if (envelope || (!byRow && !streaming.has(output.format)))
    throw usageError(
      `--follow prints rows as they arrive, but ${envelope ? '--envelope' : `-o ${output.format}`} prints a single document`,
      await context.command!.again({ without: ['--output', '--envelope'], plus: ['-o', 'ndjson'] }),
    )
  return output
}

/** Yields new and changed rows with each poll. Survives a restart of the service, with a notice. */
async function* changes(
  operation: Operation,
  client: Client,
  {
    input,
    cursor,
    signal,
    warn,
  }: { input: Record<string, unknown>; cursor: string; signal: AbortSignal; warn: Output['warn'] },
): AsyncGenerator<unknown[], never> {
  for (let at = cursor, isLost = false; ;) {
    await sleepFor(pollMs, signal)
    try {
      const query = { ...input, limit: undefined, cursor: at }
      for await (const answer of client.pages(operation, query, { signal })) {
        if (isLost) warn('The service is back.')
        isLost = false
        at = cursorIn(answer.links?.prev ?? answer.links?.next) ?? at
        yield rowsIn(operation, answer)
      }
    } catch (error) {
      if (!mayComeBack(error)) throw error
      if (!isLost) warn(`${withFullStop(error.message)} Retrying until it is back; press Ctrl-C to stop.`)
      isLost = true
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
  const output = await outputFor(context)
  const client = await context.client()
  try {
    const { envelope, newer } = await asTyped(
      operation,
      input,
      joined(listPages(operation, client, { input, options, signal })),
    )
    if (newer === undefined)
      throw new SvcError('failed', 'cannot_follow', 'This service does not support --follow', {
        hint: await context.command!.again({ without: ['--follow'] }),
      })
    let above: unknown[] = []
    const show = async (rows: unknown[]): Promise<void> => {
      if (rows.length === 0) return
      await output.show({ ...envelope, data: rows }, { ...shape, paged: false, above })
      above = [...above, ...rows].slice(-mostAbove)
    }

    const first = rowsIn(operation, { envelope }).toReversed()
    await show(first)
    // Consecutive answers overlap: skip the rows of the previous one.
    let seen = new Set(first.map((row) => JSON.stringify(row)))
    for await (const rows of changes(operation, client, {
      input,
      cursor: newer,
      signal,
      warn: output.warn,
    })) {
      await show(rows.filter((row) => !seen.has(JSON.stringify(row))))
      seen = new Set(rows.map((row) => JSON.stringify(row)))
    }
  } catch (error) {
    // Ctrl-C is the normal end.
    if (!(error instanceof SvcError) || error.exit !== 'interrupted') throw error
    context.exitCode = exitCode('interrupted')
  }
}

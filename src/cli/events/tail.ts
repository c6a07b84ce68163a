import type { Command } from 'commander'
import { recordIn } from '../../client/answer-data.ts'
import type { Client } from '../../client/client.ts'
import { sleepFor } from '../../core/sleep.ts'
import { mayComeBack } from '../../client/retry.ts'
import { type EventRecord, eventFilters, events } from '../../contract/event.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { exitCode } from '../../core/exit-codes.ts'
import { nearest } from '../../core/nearest.ts'
import { withFullStop } from '../../core/sentence.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { resolveOrg } from '../context/organization.ts'
import { typedTime } from '../operation/typed-time.ts'
import { asTyped } from '../operation/typed-names.ts'
import { noteScope } from '../program/command-node.ts'
import type { Output } from '../terminal/output.ts'

/** Shorter than the timeout of a transport, so that a silent service is noticed. */
const waitSeconds = 25
const retryMs = 1_000
const perRequest = 500

type Options = { org?: string; type?: string; since?: string; after?: string; follow: boolean }
type Input = { org_id?: number; type?: string; after?: string; from?: string }

const inputOf = async ({ org, type, since, after }: Options, context: Context): Promise<Input> => {
  if (type !== undefined && !(eventFilters as readonly string[]).includes(type))
    throw usageError(
      `--type is not a type or group of events: "${type}"`,
      `--type ${shellQuote(nearest(type, eventFilters) ?? 'approval')}; svc events tail --help lists all of them`,
    )
  if (since !== undefined && after !== undefined)
    throw usageError('--since cannot be combined with --after', 'Remove one of them')
  const wanted = org ?? (await context.settings()).org?.value
  return {
    ...(wanted && { org_id: (await resolveOrg(wanted, context)).id }),
    ...(type !== undefined && { type }),
    ...(after !== undefined && { after }),
    ...(since !== undefined && { from: typedTime('since', since, 'past', new Date()) }),
  }
}

/** Yields events as they happen, through restarts of the service; with `once`, only those that there are. */
async function* read(
  client: Client,
  first: Input,
  { once, signal, warn }: { once: boolean; signal: AbortSignal; warn: Output['warn'] },
): AsyncGenerator<EventRecord[], void> {
  let input = first
  let [lost, started] = [false, false]
  for (;;)
    try {
      const wait = once || lost || !started ? {} : { wait_s: waitSeconds }
      const asked = { ...input, ...wait, limit: perRequest } as never
      const answer = await asTyped(
        events.listEvents,
        asked,
        client.call(events.listEvents, asked, { signal }),
      )
      const { events: found, cursor } = recordIn(events.listEvents, answer, ['events', 'cursor'])
      if (lost) warn('The service is back.')
      ;[lost, started] = [false, true]
      const { from: _, ...rest } = input
      const isEnd = found.length === 0 && cursor === input.after
      input = { ...rest, after: cursor }
      yield found
      if (once && isEnd) return
    } catch (error) {
      if (once || !started || !mayComeBack(error)) throw error
      if (!lost) warn(`${withFullStop(error.message)} Retrying until it is back; press Ctrl-C to stop.`)
      lost = true
      await sleepFor(retryMs, signal)
    }
}

/** Formats that are printed event by event; the others are one document. */
const streaming = new Set<string>(['table', 'tsv', 'ndjson'])

/** Number of printed rows that a table on a terminal stays aligned with. */
const mostAbove = 100

const wide = ['actor', 'id']

/** One line for a table. */
const toRow = ({ id, type, timestamp, data }: EventRecord) => ({
  timestamp,
  type,
  subject: data.subject,
  actor: data.actor,
  id,
})

const tail = async (options: Options, context: Context): Promise<void> => {
  const output = await context.output()
  const { jq, json, envelope } = context.globals
  const isWhole = output.format === 'ndjson' || jq !== undefined || json !== undefined
  if (envelope || (!isWhole && !streaming.has(output.format)))
    throw usageError(
      `svc events tail prints events as they arrive, but ${envelope ? '--envelope' : `-o ${output.format}`} prints a single document`,
      await context.command!.again({ without: ['--output', '--envelope'], plus: ['-o', 'ndjson'] }),
    )
  const { signal } = context.io
  const input = await inputOf(options, context)
  const client = await context.client()
  let above: unknown[] = []
  try {
    for await (const found of read(client, input, { once: !options.follow, signal, warn: output.warn })) {
      if (found.length === 0) continue
      const rows = isWhole ? found : found.map(toRow)
      await output.show({ status: 'success', message: 'Events', data: rows }, { paged: false, above, wide })
      above = [...above, ...rows].slice(-mostAbove)
    }
  } catch (error) {
    // Ctrl-C is the normal end.
    if (!(error instanceof SvcError) || error.exit !== 'interrupted') throw error
    context.exitCode = exitCode('interrupted')
  }
}

/** `svc events tail`: prints events as they happen. */
export const registerTail = (group: Command, context: Context): void => {
  const command = group
    .command('tail')
    .description('Print events as they happen, until Ctrl-C')
    .option('--org <org>', 'Organization, id or slug; 0 or none: the service itself')
    .option('--type <type>', 'Only events of this type or group: approval, approval.denied')
    .option('--since <time>', 'Start at this time: 2h, 3d, 2030-01-31 or ISO 8601; default: now')
    .option('--after <id>', 'Start after this event')
    .option('--no-follow', 'Print the events up to now, and exit')
    .addHelpText(
      'after',
      `\nTypes: ${eventFilters.filter((filter) => filter.includes('.')).join(', ')}\n\nExample:\n  svc events tail --org acme --type approval -o ndjson`,
    )
  noteScope(command, 'read')
  command.action(() => tail(command.opts<Options>(), context))
}

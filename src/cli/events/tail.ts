import { recordIn } from '../../client/answer-data.ts'
import type { Client } from '../../client/client.ts'
import { type EventRecord, eventFilters, events } from '../../contract/event.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { exitCode } from '../../core/exit-codes.ts'
import { nearest } from '../../core/nearest.ts'
import { safeLine } from '../../core/safe-text.ts'
import { withFullStop } from '../../core/sentence.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { sleepFor } from '../../core/sleep.ts'
import { mayComeBack } from '../../client/retry.ts'
import type { Context } from '../context/context.ts'
import { resolveOrg } from '../context/organization.ts'
import { typedTime } from '../operation/typed-time.ts'
import { callTyped } from '../operation/typed-names.ts'
import { defineCommand } from '../program/define-command.ts'
import type { Output } from '../terminal/output.ts'
import { clockTime } from '../terminal/relative-time.ts'

/** Shorter than the timeout of a transport, so that a silent service is noticed. */
const waitSeconds = 25
const perRequest = 500
const retryMs = 1_500

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
  let [isOpen, isLost] = [false, false]
  let wait = {}
  for (;;)
    try {
      const asked = { ...input, ...wait, limit: perRequest }
      const listed = await callTyped(client, events.listEvents, asked, { signal })
      const { events: found, cursor } = recordIn(events.listEvents, listed, ['events', 'cursor'])
      if (isLost) warn('The service is back.')
      ;[isOpen, isLost] = [true, false]
      yield found
      if (once && found.length === 0 && cursor === input.after) return
      const { from: _, ...rest } = input
      input = { ...rest, after: cursor }
      wait = once ? {} : { wait_s: waitSeconds }
    } catch (error) {
      // Before the first answer, an address that cannot work is an ordinary error.
      if (once || !isOpen || !mayComeBack(error)) throw error
      if (!isLost) warn(`${withFullStop(error.message)} Retrying until it is back; press Ctrl-C to stop.`)
      isLost = true
      wait = {}
      await sleepFor(retryMs, signal)
    }
}

const toRow = ({ id, type, timestamp, data }: EventRecord) => ({
  timestamp,
  type,
  subject: data.subject,
  actor: data.actor,
  id,
})

/** Longer types are rare, and an approval fits into 80 columns. */
const typeWidth = 20

const lineOf = (event: EventRecord): string => {
  const { timestamp, type, subject, actor } = toRow(event)
  const time = clockTime(timestamp, new Date())
  return `${safeLine(`${time}  ${type.padEnd(typeWidth)}  ${subject ?? '-'}  ${actor ?? '-'}`)}\n`
}

const tail = async (options: Options, context: Context): Promise<void> => {
  const output = await context.output()
  const { format, warn } = output
  const { signal, stdout } = context.io
  const isWhole = format === 'ndjson' || context.globals.jq !== undefined
  const isSingle = !isWhole && format !== 'table' && format !== 'tsv'
  if (isSingle && options.follow)
    throw usageError(
      `svc events tail prints events as they arrive, but -o ${format} prints a single document`,
      'Use -o ndjson, or --no-follow',
    )
  const input = await inputOf(options, context)
  const client = await context.client()
  const all: EventRecord[] = []
  context.endsWithReader = true
  try {
    for await (const found of read(client, input, { once: !options.follow, signal, warn }))
      if (isSingle) all.push(...found)
      else if (found.length > 0 && format === 'table') stdout.write(found.map(lineOf).join(''))
      else if (found.length > 0)
        await output.show({
          status: 'success',
          message: 'Events',
          data: isWhole ? found : found.map(toRow),
        })
    if (isSingle) await output.report('Events', format === 'csv' ? all.map(toRow) : all)
  } catch (error) {
    // Ctrl-C is the normal end.
    if (!(error instanceof SvcError) || error.exit !== 'interrupted') throw error
    context.exitCode = exitCode('interrupted')
  }
}

/** `svc events tail`: prints events as they happen. */
export const registerTail = defineCommand<Options>({
  name: 'tail',
  summary: 'Print events as they happen, until Ctrl-C',
  options: {
    '--org <org>': 'Organization, id or slug; 0 or none: the service itself',
    '--type <type>': 'Only events of this type or group: approval, approval.denied',
    '--since <time>': 'Start at this time: 2h, 3d, 2030-01-31 or ISO 8601; default: now',
    '--after <id>': 'Start after this event',
    '--no-follow': 'Print the events up to now, and exit',
  },
  note: `Types: ${eventFilters.filter((filter) => filter.includes('.')).join(', ')}`,
  examples: ['svc events tail --org acme --type approval -o ndjson'],
  scope: 'read',
  action: ({ options }, context) => tail(options, context),
})

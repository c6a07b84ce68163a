import type { Command } from 'commander'
import { recordIn } from '../../client/answer-data.ts'
import type { Client } from '../../client/client.ts'
import { type EventRecord, eventFilters, events } from '../../contract/event.ts'
import { usageError } from '../../core/errors.ts'
import { nearest } from '../../core/nearest.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { resolveOrg } from '../context/organization.ts'
import { arrivingOutput, type Patience, printArriving, throughRestarts } from '../operation/follow.ts'
import { typedTime } from '../operation/typed-time.ts'
import { asTyped } from '../operation/typed-names.ts'
import { noteScope } from '../program/command-node.ts'

/** Shorter than the timeout of a transport, so that a silent service is noticed. */
const waitSeconds = 25
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
  { once, ...patience }: { once: boolean } & Patience,
): AsyncGenerator<EventRecord[], void> {
  let [input, isEnd] = [first, false]
  const next = async (wait: { wait_s?: number }): Promise<EventRecord[]> => {
    const asked = { ...input, ...wait, limit: perRequest } as never
    const answer = client.call(events.listEvents, asked, { signal: patience.signal })
    const listed = await asTyped(events.listEvents, asked, answer)
    const { events: found, cursor } = recordIn(events.listEvents, listed, ['events', 'cursor'])
    const { from: _, ...rest } = input
    isEnd = found.length === 0 && cursor === input.after
    input = { ...rest, after: cursor }
    return found
  }
  const round = async function* (isLost: boolean): AsyncGenerator<EventRecord[], void> {
    yield await next(isLost ? {} : { wait_s: waitSeconds })
  }
  for (yield await next({}); ;)
    if (!once) yield* throughRestarts(round, patience)
    else if (isEnd) return
    else yield await next({})
}

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
  const output = await arrivingOutput('svc events tail prints events', context)
  const { jq, json } = context.globals
  const isWhole = output.format === 'ndjson' || jq !== undefined || json !== undefined
  const { signal } = context.io
  const input = await inputOf(options, context)
  const client = await context.client()
  const answers = async function* () {
    for await (const found of read(client, input, { once: !options.follow, signal, warn: output.warn }))
      yield { status: 'success', message: 'Events', data: isWhole ? found : found.map(toRow) }
  }
  await printArriving(answers(), { output, shape: { wide } }, context)
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

import { type MessageRecord, messageRecord } from '../../contract/outbox.ts'
import { deliveryChannels } from '../../contract/records.ts'
import { addMs, dayMs } from '../../core/iso-time.ts'
import { conflict, notFound, type Refusal } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import type { Channel } from '../call/message.ts'
import { byTime, endOfReach } from '../call/pagination.ts'
import { reachOrganization, withinOrganization } from '../call/tenant.ts'

const ended = new Set<string>(['sent', 'failed', 'dead'])

const { retryable: _, ...storedShape } = messageRecord.shape
const stored = Object.keys(storedShape) as (keyof typeof storedShape)[]

const selectMessages = ({ db, caller }: Call) =>
  db
    .selectFrom('outbox')
    .where(withinOrganization(caller.orgId, 'org_id'))
    .select(['id', ...stored])
    .select(({ eb }) => eb('wrapped', 'is not', null).as('kept'))

type Row = Awaited<ReturnType<ReturnType<typeof selectMessages>['executeTakeFirstOrThrow']>>

const toRecord = (row: Row): MessageRecord => {
  const { id: _, kept, ...rest } = row
  return {
    ...rest,
    kind: row.kind as MessageRecord['kind'],
    next_at: ended.has(row.state) ? null : row.next_at,
    retryable: Boolean(kept) && (row.state === 'dead' || row.state === 'queued'),
  }
}

export const readMessage = async (call: Call, message_id: string): Promise<MessageRecord> =>
  toRecord(
    await selectMessages(call)
      .where('message_id', '=', message_id)
      .executeTakeFirstOrThrow(() => notFound('Message')),
  )

const sendNewOne = 'Its text was erased: send a new message'

const notRetryable = async (call: Call, message_id: string): Promise<Refusal> => {
  const { state } = await readMessage(call, message_id)
  if (state === 'sending') return conflict('being_sent', 'The message is being sent right now')
  if (state === 'sent') return conflict('already_sent', 'The message was sent', sendNewOne)
  if (state === 'failed')
    return conflict('refused_for_good', 'The provider refused this message permanently', sendNewOne)
  return conflict('message_erased', 'The message has expired or was given up too long ago', sendNewOne)
}

const columns = { key: 'id', at: 'created_at' }

export const listOutbox: HandlerOf<'listOutbox'> = async (
  { org_id, state, channel, kind, ...span },
  call,
) => {
  if (org_id) await reachOrganization(call, org_id)
  const query = selectMessages(call)
    .$if(org_id !== undefined, (some) => some.where('org_id', '=', org_id!))
    .$if(state !== undefined, (some) => some.where('state', '=', state!))
    .$if(channel !== undefined, (some) => some.where('channel', '=', channel!))
    .$if(kind !== undefined, (some) => some.where('kind', '=', kind!))
  const reached = org_id ?? call.caller.orgId
  const all = call.db.selectFrom('outbox').where(withinOrganization(reached, 'org_id'))
  const isFiltered = [state, channel, kind].some((one) => one !== undefined)
  const end = isFiltered ? await endOfReach(all, columns, span, call.page) : undefined
  const found = await byTime(query, columns, span, call.page, end).execute()
  return call.pagedByTime(found, ({ id, created_at }) => ({ key: id, at: created_at }), end).map(toRecord)
}

export const listChannels: HandlerOf<'listChannels'> = async (_, call) => {
  const { db, caller, now, service } = call
  const counts = await db
    .selectFrom('outbox')
    .where(withinOrganization(caller.orgId, 'org_id'))
    .where(({ or, and, eb }) =>
      or([
        and([eb('state', '=', 'queued'), eb('attempts', '>', 0)]),
        and([eb('state', 'in', ['failed', 'dead']), eb('updated_at', '>', addMs(now, -dayMs))]),
      ]),
    )
    .select(({ fn }) => ['channel', 'state', fn.countAll<number>().as('count')])
    .groupBy(['channel', 'state'])
    .execute()
  const count = (channel: Channel, isQueued: boolean): number =>
    counts
      .filter((row) => row.channel === channel && (row.state === 'queued') === isQueued)
      .reduce((sum, row) => sum + Number(row.count), 0)
  return deliveryChannels.map((channel) => ({
    channel,
    ready: service.channels.has(channel),
    only_logged: service.loggedChannels.has(channel),
    waiting: count(channel, true),
    given_up: count(channel, false),
  }))
}

export const getMessage: HandlerOf<'getMessage'> = ({ message_id }, call) => readMessage(call, message_id)

export const retryMessage: HandlerOf<'retryMessage'> = async ({ message_id }, call) => {
  const { caller, now } = call
  const row = await call.db
    .updateTable('outbox')
    .set({ state: 'queued', attempts: 0, next_at: now, updated_at: now })
    .where('message_id', '=', message_id)
    .where(withinOrganization(caller.orgId, 'org_id'))
    .where('state', 'in', ['dead', 'queued'])
    .where('wrapped', 'is not', null)
    .where(({ eb, or }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .returning('org_id')
    .executeTakeFirst()
  if (!row) throw await notRetryable(call, message_id)
  await call.audit(row.org_id, `message:${message_id}`, ['state'])
  call.afterCommit(call.service.deliver)
  return readMessage(call, message_id)
}

import type { WebhookRecord } from '../../contract/webhook.ts'
import { randomToken } from '../../core/ids.ts'
import { addMs } from '../../core/iso-time.ts'
import { conflict, invalid, notFound } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { countRows } from '../call/pagination.ts'
import { withinOrganization } from '../call/tenant.ts'
import { reachChain } from '../custody/audit-log.ts'
import { checkPublicUrl } from '../delivery/public-address.ts'
import { scopeMissing } from '../keys/scopes.ts'
import { lockOrganizations } from '../storage/transaction.ts'
import { newSigningSecret, secretsAt } from './signature.ts'
import { readBefore, readEnd } from './stream.ts'
import { openTarget, type Target, tryTarget, wrapTarget } from '../call/webhook-target.ts'
import { typesOf, type WebhookRow } from './webhook-rows.ts'

/** Webhooks of one chain. */
const mostWebhooks = 20
const standardOverlap = 86_400

type Deps = Pick<Call, 'db' | 'caller'>

const select = ({ db, caller }: Deps) =>
  db.selectFrom('webhooks').where(withinOrganization(caller.orgId, 'org_id')).selectAll()

const findWebhook = (deps: Deps, webhook_id: string): Promise<WebhookRow> =>
  select(deps)
    .where('webhook_id', '=', webhook_id)
    .executeTakeFirstOrThrow(() => notFound('Webhook'))

/** What is listed of a webhook that another program has changed, so that it can be deleted. */
const altered = {
  url: 'changed by another program',
  format: 'json' as const,
  scopes: [],
  secrets: [],
} satisfies Partial<Target>

/** The rows as the API returns them, with the state of their events. */
const toRecords = async (call: Call, rows: readonly WebhookRow[]): Promise<WebhookRecord[]> => {
  if (rows.length === 0) return []
  const counts = await call.db
    .selectFrom('outbox')
    .where('channel', '=', 'webhook')
    .where(
      'recipient',
      'in',
      rows.map((row) => row.webhook_id),
    )
    .where('state', '<>', 'sent')
    .select(({ fn }) => ['recipient', 'state', fn.countAll<number>().as('count')])
    .groupBy(['recipient', 'state'])
    .execute()
  const count = (id: string, ...states: string[]): number =>
    counts
      .filter(({ recipient, state }) => recipient === id && states.includes(state))
      .reduce((sum, row) => sum + Number(row.count), 0)
  return rows.map((row) => {
    const { webhook_id, org_id, failing_since, error, created_at, updated_at } = row
    const { url, format, scopes, secrets } = tryTarget(call.keyring, row) ?? altered
    return {
      webhook_id,
      org_id,
      url,
      format,
      scopes,
      types: typesOf(row),
      state: row.state === 'active' && failing_since !== null ? 'failing' : row.state,
      failing_since,
      error,
      waiting: count(webhook_id, 'queued', 'sending'),
      given_up: count(webhook_id, 'dead', 'failed'),
      secrets: secretsAt(secrets, call.now).length,
      created_at,
      updated_at,
    }
  })
}

const toRecord = async (call: Call, row: WebhookRow): Promise<WebhookRecord> =>
  (await toRecords(call, [row]))[0]!

const subjectOf = (webhook_id: string): string => `webhook:${webhook_id}`

export const createWebhook: HandlerOf<'createWebhook'> = async (input, call) => {
  const org_id = await reachChain(call, input.org_id)
  const { dev, webhookNetworks } = call.service
  checkPublicUrl('url', input.url, dev, webhookNetworks)
  const { format = 'json', scopes = [] } = input
  // Nobody gives away what they cannot read themselves.
  const missing = scopes.find((scope) => !call.caller.scopes.has(scope))
  if (missing) throw scopeMissing(call.caller, missing)
  await lockOrganizations(call.db, [org_id])
  if ((await countRows(call.db.selectFrom('webhooks').where('org_id', '=', org_id))) >= mostWebhooks)
    throw conflict(
      'too_many_webhooks',
      `An organization can have ${mostWebhooks} webhooks`,
      'Delete one first: svc webhook list',
    )
  const webhook_id = `wh_${randomToken(12).replaceAll('_', '-')}`
  const secret = newSigningSecret()
  const target: Target = { org_id, url: input.url, format, scopes, secrets: [{ secret }] }
  const row: WebhookRow = {
    webhook_id,
    org_id,
    types: [...new Set(input.types)].join(','),
    wrapped: wrapTarget(call.keyring, webhook_id, target),
    state: 'active',
    cursor_seq: (await readEnd(call.db, org_id)).seq,
    failing_since: null,
    error: null,
    created_at: call.now,
    updated_at: call.now,
  }
  await call.db.insertInto('webhooks').values(row).execute()
  await call.audit(org_id, subjectOf(webhook_id))
  return { ...(await toRecord(call, row)), secret }
}

export const listWebhooks: HandlerOf<'listWebhooks'> = async ({ org_id }, call) => {
  if (org_id !== undefined) await reachChain(call, org_id)
  const rows = await select(call)
    .$if(org_id !== undefined, (some) => some.where('org_id', '=', org_id!))
    .orderBy('created_at')
    .orderBy('webhook_id')
    .execute()
  return toRecords(call, rows)
}

/** Changes the row of a webhook as it is now. */
const change = async (
  call: Call,
  { webhook_id, org_id }: WebhookRow,
  values: Partial<WebhookRow>,
): Promise<WebhookRow> =>
  call.db
    .updateTable('webhooks')
    .set({ ...values, updated_at: call.now })
    .where('webhook_id', '=', webhook_id)
    .where('org_id', '=', org_id)
    .returningAll()
    .executeTakeFirstOrThrow(() => notFound('Webhook'))

/** A webhook that no other transaction changes until this one ends. */
const lockWebhook = async (call: Call, webhook_id: string): Promise<WebhookRow> => {
  const found = await findWebhook(call, webhook_id)
  return (await lockOrganizations(call.db, [found.org_id])) ? findWebhook(call, webhook_id) : found
}

export const rotateWebhook: HandlerOf<'rotateWebhook'> = async (
  { webhook_id, overlap_s = standardOverlap },
  call,
) => {
  const row = await lockWebhook(call, webhook_id)
  const target = openTarget(call.keyring, row)
  const secret = newSigningSecret()
  const until = addMs(call.now, overlap_s * 1000)
  // Only one older secret signs, so that the header stays short.
  const old = target.secrets.find((one) => one.until === undefined)
  const secrets = secretsAt([{ secret }, ...(old ? [{ ...old, until }] : [])], call.now)
  const wrapped = wrapTarget(call.keyring, webhook_id, { ...target, secrets })
  const changed = await change(call, row, { wrapped })
  await call.audit(row.org_id, subjectOf(webhook_id), ['secret'])
  return { ...(await toRecord(call, changed)), secret }
}

export const replayWebhook: HandlerOf<'replayWebhook'> = async ({ webhook_id, from }, call) => {
  const row = await lockWebhook(call, webhook_id)
  if (from === undefined && row.state === 'active')
    throw invalid('from', 'is required: the webhook has not stopped', 'Name a time: --since 2h')
  const cursor_seq = from === undefined ? row.cursor_seq : (await readBefore(call.db, row.org_id, from)).seq
  const changed = await change(call, row, {
    state: 'active',
    cursor_seq: row.state === 'active' ? Math.min(cursor_seq, row.cursor_seq) : cursor_seq,
    failing_since: null,
    error: null,
  })
  await call.audit(row.org_id, subjectOf(webhook_id), ['state', 'cursor'])
  return toRecord(call, changed)
}

export const deleteWebhook: HandlerOf<'deleteWebhook'> = async ({ webhook_id }, call) => {
  const { org_id } = await findWebhook(call, webhook_id)
  await call.db
    .deleteFrom('webhooks')
    .where('webhook_id', '=', webhook_id)
    .where('org_id', '=', org_id)
    .returning('webhook_id')
    .executeTakeFirstOrThrow(() => notFound('Webhook'))
  await call.db
    .deleteFrom('outbox')
    .where('channel', '=', 'webhook')
    .where('recipient', '=', webhook_id)
    .where('state', 'in', ['queued', 'dead'])
    .execute()
  await call.audit(org_id, subjectOf(webhook_id))
}

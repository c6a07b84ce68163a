import { fieldsIn } from '../../client/answer-data.ts'
import { device } from '../../contract/device.ts'
import { key } from '../../contract/key.ts'
import type { Data } from '../../contract/operation.ts'
import { inWholeSeconds } from '../../core/iso-time.ts'
import { safeLine } from '../../core/safe-text.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { isUnsupported } from '../context/own-key.ts'
import { extended } from '../operation/operation-command.ts'

// What ends with a key or a device, and what it added and still works.

const mostShown = 10

type Outcome = Partial<Data<typeof device.revokeDevice>>
type Added = NonNullable<Outcome['remaining']>

/** A line for each device and agent, the first ones only. */
const linesOf = (title: string, { devices, agents, more = false }: Added): string[] => {
  const all = [
    ...devices.map((one) => ({ kind: 'device', ...one })),
    ...agents.map((one) => ({ kind: 'key', ...one })),
  ]
  const rest = all.length - mostShown
  return [
    ...all
      .slice(0, mostShown)
      .map(({ kind, id, name, user_id, owner }) =>
        safeLine(`${title}: ${kind} ${id} ${JSON.stringify(name)} of user ${user_id} (${owner})`),
      ),
    ...(rest > 0 || more ? [`${title}: and ${more ? 'more than ' : ''}${Math.max(rest, 0)} more`] : []),
  ]
}

/** What ended, and what still works with the command that ends it. */
export const outcomeOf = ({ ended, remaining }: Outcome, again: string): string[] => {
  const left = remaining ? linesOf('Still works', remaining) : []
  return [
    ...(ended ? linesOf('Ended with it', ended) : []),
    ...left,
    ...(left.length > 0 ? [`hint: Review these. To end them too: ${again} --with-added`] : []),
  ]
}

const warnAll = async (lines: readonly string[], context: Context): Promise<void> => {
  const { warn } = await context.output()
  for (const line of lines) warn(line)
}

const listDevices = extended([device.listDevices], () => ({
  // A number alone reads as the id of a user.
  texts: { enrolled_by: (id) => (id === null ? '' : `key ${String(id)}`) },
}))

const revokeDevice = extended([device.revokeDevice], (context) => ({
  afterShown: async (answer) => {
    const { id, org_id, ...outcome } = fieldsIn(answer)
    const again = `svc user devices revoke ${shellQuote(String(id))} --org ${shellQuote(String(org_id))}`
    await warnAll(outcomeOf(outcome, again), context)
  },
}))

export const deviceExtensions = new Map([...listDevices, ...revokeDevice])

type Ending = Partial<Pick<Data<typeof key.getKey>, 'newest_id' | 'created_keys' | 'created_keys_total'>> & {
  secrets?: unknown[]
}

/** What ends with a key: a line for each kind. Only itself, if a rotation replaced it. */
const endingOf = ({ newest_id, created_keys = [], created_keys_total, secrets = [] }: Ending): string[] => {
  if (newest_id != null)
    return [
      `Only this secret ends. Secret ${newest_id}, which replaced it, still works; svc key revoke ${shellQuote(newest_id)} ends the key`,
    ]
  const total = created_keys_total ?? created_keys.length
  const shown = created_keys
    .slice(0, mostShown)
    .map(({ id, name, scopes }) => `${id} ${name} (${scopes.join(', ')})`)
  const rest = total > shown.length ? [`and ${total - shown.length} more`] : []
  const ends = total === 1 ? '1 key is revoked with it' : `${total} keys are revoked with it`
  return [
    ...(total > 0 ? [`${ends}: ${[...shown, ...rest].join('; ')}`] : []),
    ...(secrets.length > 0 ? [`Its older secrets end too: ${secrets.join(', ')}`] : []),
  ]
}

/** A key before it changes; undefined if the service does not show it: the command itself reports why it cannot be done. */
const readKey = async (id: unknown, context: Context) => {
  const client = await context.client()
  try {
    return fieldsIn(await client.call(key.getKey, { id: String(id) }, { signal: context.io.signal }))
  } catch (error) {
    if (isUnsupported(error)) return undefined
    throw error
  }
}

/** For the question before the revocation; nothing if the service does not show the key. */
const endingWith = async (id: unknown, context: Context): Promise<string[]> => {
  const found = await readKey(id, context)
  if (!found) return []
  const { secrets = [], replaced, newest_id, ...shown } = found
  const lines = endingOf({
    ...shown,
    newest_id: replaced === true ? (newest_id ?? null) : null,
    secrets: secrets.map((secret) => secret.id),
  })
  return lines.length > 0 ? lines : ['No other key is revoked with it']
}

const revokeKey = extended([key.revokeKey], (context) => ({
  consequence: ({ id }) => endingWith(id, context),
  afterShown: async (answer) => {
    const ended = fieldsIn(answer)
    const { newest_id, ended_requests = 0 } = ended
    const requests = ended_requests > 0 ? [`Pending requests that ended with it: ${ended_requests}`] : []
    const again = `svc key revoke ${shellQuote(String(ended.id))}`
    const added = newest_id == null ? outcomeOf(ended, again) : []
    await warnAll([...endingOf(ended), ...requests, ...added], context)
  },
}))

/** What the secrets of a key start with; nothing if the service does not show the key. */
const prefixesOf = async (id: unknown, context: Context): Promise<string[]> => {
  const { prefix, secrets = [] } = (await readKey(id, context)) ?? {}
  return [prefix, ...secrets.map((secret) => secret.prefix)].filter((one) => one !== undefined)
}

const rotateKey = extended([key.rotateKey], async (context, { args, options }) => {
  const old = options['dryRun'] ? [] : await prefixesOf(args[0], context)
  return {
    afterShown: async (answer) => {
      const { older_secrets = [], key: made } = fieldsIn(answer)
      const { saveRotated } = await import('../profile/save.ts')
      const saved = typeof made === 'string' ? await saveRotated(old, made, context) : []
      const lines = older_secrets.map(
        ({ id, expires_at }) =>
          `Secret ${id} works until ${inWholeSeconds(String(expires_at))}. To end it now: svc key revoke ${shellQuote(id)}`,
      )
      await warnAll([...saved, ...lines], context)
    },
  }
})

export const keyExtensions = new Map([...revokeKey, ...rotateKey])

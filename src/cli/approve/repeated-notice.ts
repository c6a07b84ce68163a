import { fieldsIn } from '../../client/answer-data.ts'
import type { Answer, CallOptions, Client } from '../../client/client.ts'
import { approval } from '../../contract/approval.ts'
import type { Data, Input, Operation } from '../../contract/operation.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { openDiskCache } from '../context/disk-cache.ts'
import { wholeNumber } from '../../core/phone-parts.ts'
import { sameService } from '../program/command-line.ts'

/** The window of the service's own limit: five notifications in ten minutes. */
const windowMs = 10 * 60_000

type Notified = { request_id?: string; expires_at?: string }

/** The person whom a call notifies: a normalized phone number, an address or a user id. */
export const personIn = (
  { cli }: Pick<Operation, 'cli'>,
  input: Record<string, unknown>,
): string | undefined => {
  if (!/^(?:approve|auth|notify) /.test(cli)) return undefined
  // An alert or a notice creates no request that could be withdrawn.
  if (cli === 'notify global') return undefined
  const { approvers, email, user_id } = input
  if (Array.isArray(approvers)) return approvers.join(' ')
  const phone = wholeNumber(input)
  if (phone !== undefined) return String(phone).replaceAll(/[\s().-]/g, '')
  return email === undefined && user_id === undefined ? undefined : String(email ?? user_id)
}

const ago = (ms: number): string => {
  const minutes = Math.floor(ms / 60_000)
  return minutes === 0 ? 'less than a minute ago' : minutes === 1 ? 'a minute ago' : `${minutes} minutes ago`
}

type Notifying<T> = {
  origin: string
  /** Which key sends it. Another key may belong to another organization, which must not learn of this request. */
  key: string | undefined
  send(): Promise<T>
  /** The new request, if the answer contains it. */
  requestIn?(answer: T): { request_id?: unknown; expires_at?: unknown }
  /** The status of an earlier request. */
  statusOf?(request_id: string): Promise<unknown>
}

/**
 * Sends a call that notifies a person. If it succeeds, prints a notice if the same key notified the same person within
 * ten minutes, from this machine. It only informs: the service enforces the limits.
 */
export const notifyOnce = async <T>(
  context: Context,
  person: string,
  { origin, key, send, requestIn, statusOf }: Notifying<T>,
): Promise<T> => {
  const cache = openDiskCache<Notified>(context.io, ['notified', origin, key, person])
  const last = cache.read()
  const answer = await send()
  const { request_id, expires_at } = requestIn?.(answer) ?? {}
  const known = typeof request_id === 'string' && typeof expires_at === 'string'
  cache.keep(known ? { request_id, expires_at } : {})
  const isSame = known && last?.value.request_id === request_id
  if (!last || last.age >= windowMs || isSame) return answer
  const { request_id: id, expires_at: end = '' } = last.value
  const alive = id !== undefined && Date.parse(end) > context.io.now().getTime()
  const status = alive ? await statusOf?.(id).catch(() => undefined) : undefined
  const more =
    status === 'pending'
      ? `, and that request is still pending. To withdraw it: svc approve cancel ${shellQuote(id!)}${sameService(context.globals)}`
      : ''
  ;(await context.output()).warn(`This person was already asked ${ago(last.age)}${more}`)
  return answer
}

/** Calls an operation that notifies a person, with that notice. */
export const callNotifying = async <O extends Operation>(
  context: Context,
  client: Client,
  ...[operation, input, options]: [operation: O, input: Input<O>, options?: CallOptions]
): Promise<Answer<Data<O>>> => {
  const send = () => client.call(operation, input, options)
  const person = personIn(operation, { ...input, ...options?.extra })
  if (person === undefined) return send()
  const { askKey, apiKey, baseUrl } = await context.settings()
  const asks = operation.cli.startsWith('approve ') ? (askKey ?? apiKey) : apiKey
  return notifyOnce(context, person, {
    origin: new URL(baseUrl.value).origin,
    key: await asks(baseUrl.value),
    send,
    requestIn: fieldsIn,
    statusOf: async (request_id) => {
      const { status } = fieldsIn(await client.call(approval.getApproval, { request_id }))
      return status
    },
  })
}

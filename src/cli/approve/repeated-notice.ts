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
  const { approver_mobile, email, user_id } = input
  const phone = approver_mobile ?? wholeNumber(input)
  if (phone !== undefined) return String(phone).replaceAll(/[\s().-]/g, '')
  return email === undefined && user_id === undefined ? undefined : String(email ?? user_id)
}

const ago = (ms: number): string => {
  const minutes = Math.floor(ms / 60_000)
  return minutes === 0 ? 'less than a minute ago' : minutes === 1 ? 'a minute ago' : `${minutes} minutes ago`
}

/** The earlier notification that a run has already mentioned: a request that continues through the tools is the same request. */
const noticed = new WeakMap<Context, string>()

type Notifying<T> = {
  origin: string
  send(): Promise<T>
  /** The new request, if the answer contains it. */
  requestIn?(answer: T): { request_id?: unknown; expires_at?: unknown }
  /** The status of an earlier request. */
  statusOf?(request_id: string): Promise<unknown>
}

/**
 * Sends a call that notifies a person, and prints a notice first if svc notified the same person within ten minutes. It only
 * informs: the service enforces the limits.
 */
export const notifyOnce = async <T>(
  context: Context,
  person: string,
  { origin, send, requestIn, statusOf }: Notifying<T>,
): Promise<T> => {
  const cache = openDiskCache<Notified>(context.io, ['ring', origin, person])
  const now = context.io.now().getTime()
  const last = cache.read()
  const notification = `${person} ${now - (last?.age ?? 0)}`
  if (last && last.age < windowMs && noticed.get(context) !== notification) {
    noticed.set(context, notification)
    const { request_id: id, expires_at = '' } = last.value
    const alive = id !== undefined && Date.parse(expires_at) > now
    const status = alive ? await statusOf?.(id).catch(() => undefined) : undefined
    const more =
      status === 'pending'
        ? `, and that request is still pending. To withdraw it: svc approve cancel ${shellQuote(id!)}${sameService(context.globals)}`
        : ''
    ;(await context.output()).warn(`This person was already asked ${ago(last.age)}${more}`)
  }
  const answer = await send()
  const { request_id, expires_at } = requestIn?.(answer) ?? {}
  const known = typeof request_id === 'string' && typeof expires_at === 'string'
  cache.keep(known ? { request_id, expires_at } : {})
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
  return notifyOnce(context, person, {
    origin: new URL((await context.settings()).baseUrl.value).origin,
    send,
    requestIn: fieldsIn,
    statusOf: async (request_id) => {
      const { status } = fieldsIn(await client.call(approval.getApproval, { request_id }))
      return status
    },
  })
}

import { fieldsIn } from '../../client/answered.ts'
import type { Answer, CallOptions, Client } from '../../client/client.ts'
import { approval } from '../../contract/approval.ts'
import type { Data, Input, Operation } from '../../contract/operation.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { openDiskCache } from '../context/disk-cache.ts'
import { wholeNumber } from '../../core/phone-parts.ts'
import { sameService } from '../program/command-line.ts'

/** As long as a service looks back, too: five rings in ten minutes. */
const windowMs = 10 * 60_000

type Notified = { request_id?: string; expires_at?: string }

/** Whom an input rings: a phone or an address, one spelling of each. */
export const personIn = (
  { cli }: Pick<Operation, 'cli'>,
  input: Record<string, unknown>,
): string | undefined => {
  if (!/^(?:approve|auth|notify) /.test(cli)) return undefined
  // An alert or a notice asks nothing of anybody, and no request to withdraw comes of it.
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

/** Which earlier ring a run has been told of: a request that goes on through the tools is one request. */
const noticed = new WeakMap<Context, string>()

type Notifying<T> = {
  origin: string
  send(): Promise<T>
  /** The request that was made, as far as it is told. */
  requestIn?(answer: T): { request_id?: unknown; expires_at?: unknown }
  /** Asked of an earlier request. */
  statusOf?(request_id: string): Promise<unknown>
}

/**
 * Sends what rings a person, and says before when svc rang the same one within ten minutes: a notice and no more. The
 * limits are the service's.
 */
export const notifyOnce = async <T>(
  context: Context,
  person: string,
  { origin, send, requestIn, statusOf }: Notifying<T>,
): Promise<T> => {
  const cache = openDiskCache<Notified>(context.io, ['ring', origin, person])
  const now = context.io.now().getTime()
  const last = cache.read()
  const ring = `${person} ${now - (last?.age ?? 0)}`
  if (last && last.age < windowMs && noticed.get(context) !== ring) {
    noticed.set(context, ring)
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

/** Calls an operation that rings, with that notice. */
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

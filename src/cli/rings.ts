import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../client/client.ts'
import { approval } from '../contract/approval.ts'
import type { Operation } from '../contract/operation.ts'
import { sha256 } from '../core/ids.ts'
import type { Context } from './context.ts'
import { configDir } from './profile/config-dir.ts'
import { readGuarded } from './profile/guarded-file.ts'

/** As long as a service looks back, too: five rings in ten minutes. */
const windowMs = 10 * 60_000

type Rung = { at: number; request_id?: string; expires_at?: string }

/** Whom an input rings: a phone or an address, one spelling of each. */
export const personIn = (
  { cli }: Pick<Operation, 'cli'>,
  input: Record<string, unknown>,
): string | undefined => {
  if (!/^(?:approve|auth|notify) /.test(cli)) return undefined
  const { approver_mobile, country_code = '', mobile, email, user_id } = input
  const phone =
    approver_mobile ?? (mobile === undefined ? undefined : `${String(country_code)}${String(mobile)}`)
  if (phone !== undefined) return String(phone).replaceAll(/[\s().-]/g, '')
  return email === undefined && user_id === undefined ? undefined : String(email ?? user_id)
}

const ago = (ms: number): string => {
  const minutes = Math.floor(ms / 60_000)
  return minutes === 0 ? 'less than a minute ago' : minutes === 1 ? 'a minute ago' : `${minutes} minutes ago`
}

/** What svc remembers, on this machine, of whom it rang; 0600 like the profiles, and no number stands in it. */
const openMemory = (context: Context, origin: string, person: string) => {
  const folder = join(configDir(context.io), 'cache')
  const file = join(folder, `ring-${sha256(JSON.stringify([origin, person])).slice(0, 32)}.json`)
  return {
    read: (): Rung | undefined => {
      try {
        const rung = JSON.parse(readGuarded(file) ?? '') as Rung
        return typeof rung.at === 'number' ? rung : undefined
      } catch {
        return undefined
      }
    },
    /** A memory that cannot be written is none. */
    keep: (rung: Rung): void => {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        writeFileSync(file, JSON.stringify(rung), { mode: 0o600 })
      } catch {
        // A home that is read-only.
      }
    },
  }
}

const isPending = async (
  client: Client,
  { request_id, expires_at = '' }: Rung,
  now: number,
): Promise<boolean> => {
  if (request_id === undefined || !(Date.parse(expires_at) > now)) return false
  try {
    const { envelope } = await client.call(approval.getApproval, { request_id })
    return (envelope.data as { status?: unknown } | undefined)?.status === 'pending'
  } catch {
    return false
  }
}

/**
 * Sends what rings a person, and says before when svc rang the same one within ten minutes: a notice and no more. The
 * limits are the service's.
 */
export const ringOnce = async <T extends { envelope: { data?: unknown } }>(
  context: Context,
  client: Client,
  person: string,
  send: () => Promise<T>,
): Promise<T> => {
  const { origin } = new URL((await context.settings()).baseUrl.value)
  const memory = openMemory(context, origin, person)
  const now = context.io.now().getTime()
  const last = memory.read()
  if (last && now - last.at < windowMs && now >= last.at) {
    const pending = await isPending(client, last, now)
    const more = pending
      ? `, and that request still waits: svc approve cancel ${last.request_id} withdraws it`
      : ''
    ;(await context.output()).warn(`This person was asked ${ago(now - last.at)} already${more}`)
  }
  const answer = await send()
  const { request_id, expires_at } = (answer.envelope.data ?? {}) as Record<string, unknown>
  memory.keep({
    at: now,
    ...(typeof request_id === 'string' && typeof expires_at === 'string' ? { request_id, expires_at } : {}),
  })
  return answer
}

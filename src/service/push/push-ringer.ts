import { standingDevices } from '../approver/session.ts'
import type { Keyring } from '../keyring.ts'
import type { Log } from '../log.ts'
import type { Prompt, Ring } from '../ringer.ts'
import type { Storage } from '../storage/storage.ts'
import { createSender } from './sender.ts'
import { openSubscription } from './subscription.ts'
import type { Vapid } from './vapid.ts'

type Options = {
  storage: Storage
  keyring: Keyring
  vapid: Vapid
  publicUrl: string
  dev: boolean
  log: Log
}

/** Rings phones by Web Push. What is sent tells which request waits, and nothing of it. */
export const createPushRinger = ({ storage, keyring, vapid, publicUrl, dev, log }: Options) => {
  const stopping = new AbortController()
  const send = createSender(vapid, { publicUrl, dev, signal: stopping.signal })
  const underWay = new Set<Promise<void>>()

  const targetsOf = ({ org_id, user_id, request_id }: Prompt) =>
    storage.read((db) =>
      standingDevices(db, dev)
        .innerJoin('push_subscriptions as p', 'p.device_id', 'd.id')
        .innerJoin('approvals as a', (join) =>
          join.onRef('a.org_id', '=', 'd.org_id').onRef('a.user_id', '=', 'd.user_id'),
        )
        .where('d.org_id', '=', org_id)
        .where('d.user_id', '=', user_id)
        .where('a.request_id', '=', request_id)
        .where('a.status', '=', 'pending')
        .select(['p.device_id', 'p.wrapped', 'a.expires_at'])
        .execute(),
    )

  /** Unless the page has said another since. */
  const drop = (device_id: number, wrapped: string) =>
    storage.write((db) =>
      db
        .deleteFrom('push_subscriptions')
        .where('device_id', '=', device_id)
        .where('wrapped', '=', wrapped)
        .execute(),
    )

  const warn = (device_id: number, what: string): void =>
    log({ at: storage.now(), level: 'warn', message: `No notification to device ${device_id}: ${what}` })

  type Target = Awaited<ReturnType<typeof targetsOf>>[number]
  const ringOne = async ({ device_id, wrapped, expires_at }: Target, request_id: string): Promise<void> => {
    try {
      const at = storage.now()
      const status = await send({
        subscription: openSubscription(keyring, device_id, wrapped),
        payload: JSON.stringify({ request_id }),
        ttl: Math.max(0, Math.ceil((Date.parse(expires_at) - Date.parse(at)) / 1000)),
        at,
      })
      if (status === 404 || status === 410) await drop(device_id, wrapped)
      if (status < 200 || status > 299) warn(device_id, `its push service answered ${status}`)
    } catch (error) {
      // The code alone: the message can hold the address, which is a secret of the phone.
      if (!stopping.signal.aborted)
        warn(device_id, (error as NodeJS.ErrnoException).code ?? (error as Error).name)
    }
  }

  const ringAll = async (prompt: Prompt): Promise<void> => {
    const targets = await targetsOf(prompt).catch(() => [])
    await Promise.all(targets.map((target) => ringOne(target, prompt.request_id)))
  }

  const ring: Ring = (prompt) => {
    const ringing = ringAll(prompt).finally(() => underWay.delete(ringing))
    underWay.add(ringing)
  }

  return {
    ring,
    /** Lets go of what is under way: the service stops. */
    close: async (): Promise<void> => {
      stopping.abort()
      await Promise.all(underWay)
    },
    /** Resolves when every push that was rung for has ended. */
    idle: async (): Promise<void> => {
      await Promise.all(underWay)
    },
  }
}

export type PushRinger = ReturnType<typeof createPushRinger>

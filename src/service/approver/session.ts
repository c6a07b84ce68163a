import type { Context } from 'hono'
import { generateCookie, getCookie } from 'hono/cookie'
import { sessionCookie } from '../../contract/approver.ts'
import { randomToken, sha256 } from '../../core/ids.ts'
import { addMs } from '../../core/iso-time.ts'
import type { Call } from '../call/call.ts'
import { actorAt, anonymousCaller, type Authenticated, type Person } from '../call/caller.ts'
import type { Service } from '../call/service.ts'
import { activeDevices } from '../devices/active.ts'
import { isAuthenticDevice } from '../devices/rows.ts'

const day = 24 * 60 * 60_000
const lifetimeMs = 90 * day
// The longest that browsers allow: the service ends the session, not the cookie.
const cookieSeconds = 400 * 24 * 60 * 60
const path = '/svc/v1/approver'

const cookieOf = (publicUrl: string, value: string, maxAge: number): string => {
  const secure = publicUrl.startsWith('https:')
  return generateCookie(sessionCookie(publicUrl), value, {
    // The prefix of the cookie's name requires this path.
    path: secure ? '/' : path,
    maxAge,
    httpOnly: true,
    secure,
    sameSite: 'Strict',
  })
}

/** The token in the cookie of a request; undefined without a well-formed one. */
const tokenIn = (context: Context, publicUrl: string): string | undefined => {
  const token = getCookie(context, sessionCookie(publicUrl))
  return token !== undefined && /^[\w-]{43}$/.test(token) ? token : undefined
}

/** Finds an open session and its device, if the device is active and authentic. */
const findSession = async (
  { storage, keyring, dev }: Service,
  column: 's.id' | 's.token_hash',
  value: number | string,
) => {
  const row = await storage.read((db) =>
    activeDevices(db, dev)
      .innerJoin('approver_sessions as s', 's.device_id', 'd.id')
      .where(column, '=', value)
      .where('s.expires_at', '>', storage.now())
      .selectAll('d')
      .select(['s.id as session_id', 's.last_seen_at'])
      .executeTakeFirst(),
  )
  return row && isAuthenticDevice({ keyring }, row) ? row : undefined
}

/** Whether a session is still open, for a caller that has waited since it was authenticated. */
export const isSessionOpen = async (service: Service, { session_id }: Person): Promise<boolean> =>
  (await findSession(service, 's.id', session_id)) !== undefined

/** Identifies the person at the page by the cookie. The store is read each time. */
export const createSessionAuthenticator =
  (service: Service) =>
  async (context: Context): Promise<Authenticated | undefined> => {
    const token = tokenIn(context, service.publicUrl)
    const row = token && (await findSession(service, 's.token_hash', sha256(token)))
    if (!row) return undefined
    const { storage } = service
    const now = storage.now()
    const { session_id, id: device_id, org_id, user_id } = row
    // A session that is used stays open. The request does not wait for the write.
    if (addMs(row.last_seen_at, day) < now)
      storage
        .write(
          (db) =>
            db
              .updateTable('approver_sessions')
              .set({ last_seen_at: now, expires_at: addMs(now, lifetimeMs) })
              .where('id', '=', session_id)
              .execute(),
          { org: null, routine: true },
        )
        .catch(() => undefined)
    return {
      // Below that of `anonymousCaller` and unique to the device, so that cached responses are not shared.
      keyId: -1 - device_id,
      name: actorAt({ user_id, device_id }),
      orgId: org_id,
      orgSlug: null,
      scopes: anonymousCaller.scopes,
      person: { user_id, device_id, session_id },
    }
  }

/** Opens a session of a device, and sets its cookie. */
export const startSession = async (call: Call, device_id: number): Promise<void> => {
  const { db, now, publicUrl } = call
  const token = randomToken()
  await db
    .deleteFrom('approver_sessions')
    .where('device_id', '=', device_id)
    .where('expires_at', '<=', now)
    .execute()
  await db
    .insertInto('approver_sessions')
    .values({
      device_id,
      token_hash: sha256(token),
      created_at: now,
      last_seen_at: now,
      expires_at: addMs(now, lifetimeMs),
    })
    .execute()
  call.header('set-cookie', cookieOf(publicUrl, token, cookieSeconds))
}

/** Ends a session, and the notifications to its device. */
export const endSession = async (call: Call, { session_id, device_id }: Person): Promise<void> => {
  await call.db
    .deleteFrom('approver_sessions')
    .where('id', '=', session_id)
    .where('device_id', '=', device_id)
    .execute()
  await call.db.deleteFrom('push_subscriptions').where('device_id', '=', device_id).execute()
  call.header('set-cookie', cookieOf(call.publicUrl, '', 0))
}

import type { Context } from 'hono'
import { generateCookie, getCookie } from 'hono/cookie'
import { organizationHeader, sessionCookie } from '../../contract/page-session.ts'
import { randomToken, sha256 } from '../../core/ids.ts'
import { addMs, dayMs } from '../../core/iso-time.ts'
import type { Call } from '../call/call.ts'
import {
  actorAt,
  anonymousCaller,
  type Authenticated,
  keyOfPage,
  type Person,
  type SignedIn,
} from '../call/caller.ts'
import type { Wrapping } from '../call/keyring.ts'
import type { Service } from '../call/service.ts'
import { activeDevices } from '../devices/active.ts'
import { isAuthenticDevice } from '../devices/rows.ts'
import type { WrapContext } from '../storage/schema.ts'
import { forgetPhone } from './push/subscription.ts'

const lifetimeMs = 90 * dayMs
// The longest that browsers allow: the service ends the session, not the cookie.
const cookieSeconds = 400 * 24 * 60 * 60
const path = '/svc/v1/approver'

const cookieOf = (publicUrl: string, name: string, value: string, maxAge: number): string => {
  const secure = publicUrl.startsWith('https:')
  return generateCookie(name, value, {
    // The prefix of the cookie's name requires this path.
    path: secure ? '/' : path,
    maxAge,
    httpOnly: true,
    secure,
    sameSite: 'Strict',
  })
}

/** Each organization has a cookie of its own, so that a second one does not end the session of the first. */
const cookieName = (publicUrl: string, org_id: number): string => `${sessionCookie(publicUrl)}-${org_id}`

/** A browser is in a few organizations; each cookie costs a read. */
const cookiesAtMost = 10

/** The well-formed tokens in the cookies of a request; only that of `wanted`, if the call names it. */
const cookiesIn = (context: Context, publicUrl: string, wanted: string | undefined) =>
  Object.entries(getCookie(context))
    .flatMap(([name, value]) => {
      const org_id = Number(name.split('-').at(-1))
      const [, token, confirmation = ''] = /^([\w-]{43})(?:\.([\w.-]{1,200}))?$/.exec(value) ?? []
      return name === cookieName(publicUrl, org_id) && token !== undefined
        ? [{ name, token, token_hash: sha256(token), confirmation, org_id }]
        : []
    })
    .filter(({ org_id }) => wanted === undefined || String(org_id) === wanted)
    .sort((one, other) => one.org_id - other.org_id)
    .slice(0, cookiesAtMost)

// A stolen cookie must not read or change more than the own inbox. What else the page does requires that the device signed for its
// session in the last minutes. The proof is in the cookie, sealed for one session and one device, so it ends with either.

const confirmedMs = 5 * 60_000

type Signed = { token_hash: string; org_id: number; device_id: number }

const contextOf = ({ token_hash, org_id, device_id }: Signed): WrapContext =>
  `session confirmation:${org_id} ${device_id} ${token_hash}`

/** The proof that the device signed for this session at `now`. */
const sealConfirmation = ({ wrap }: Wrapping, session: Signed, now: string): string =>
  wrap(addMs(now, confirmedMs), contextOf(session))

/** Whether the proof was made for this session and holds at `now`. */
const isConfirmed = (
  { unwrap }: Pick<Wrapping, 'unwrap'>,
  proof: string,
  session: Signed,
  now: string,
): boolean => {
  try {
    return now < unwrap(proof, contextOf(session))
  } catch {
    return false
  }
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

type Found = NonNullable<Awaited<ReturnType<typeof findSession>>> & Pick<Person, 'cookie' | 'confirmed'>

/** The open sessions of a browser, one for each organization. */
const findSessions = async (service: Service, cookies: ReturnType<typeof cookiesIn>) => {
  const found: Found[] = []
  const now = service.storage.now()
  for (const { name, token, token_hash, confirmation, org_id } of cookies) {
    const row = await findSession(service, 's.token_hash', token_hash)
    if (row?.org_id !== org_id) continue
    const confirmed = isConfirmed(
      service.keyring,
      confirmation,
      { token_hash, org_id, device_id: row.id },
      now,
    )
    found.push(Object.assign(row, { cookie: { name, token }, confirmed }))
  }
  return found
}

const toSignedIn = ({ user_id, id, session_id, org_id, confirmed, cookie }: Found): SignedIn => ({
  user_id,
  device_id: id,
  session_id,
  org_id,
  confirmed,
  cookie,
})

/** A session that is used stays open. The request does not wait for the write. */
const keepOpen = ({ storage }: Service, { session_id, last_seen_at }: Found): void => {
  const now = storage.now()
  if (addMs(last_seen_at, dayMs) >= now) return
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
}

/** Identifies the person at the page by the cookies. The store is read each time. `isOpen`: the call needs no session. */
export const createSessionAuthenticator =
  (service: Service) =>
  async (context: Context, isOpen: boolean): Promise<Authenticated | undefined> => {
    const wanted = context.req.header(organizationHeader)
    const cookies = cookiesIn(context, service.publicUrl, wanted)
    const found = await findSessions(service, cookies)
    for (const one of found) keepOpen(service, one)
    const sessions = found.map(toSignedIn)
    const [first] = sessions
    if (!first) return isOpen ? { ...anonymousCaller, orgSlug: null, cookies } : undefined
    const { org_id, ...person } = first
    return {
      // Below that of `anonymousCaller` and unique to the device, so that cached responses are not shared.
      keyId: keyOfPage(person.device_id),
      name: actorAt(person),
      orgId: org_id,
      orgSlug: null,
      scopes: anonymousCaller.scopes,
      person,
      cookies,
      ...(wanted === undefined && { sessions }),
    }
  }

/** A synced passkey is one device in several browsers. Beyond these, the session that was used longest ago ends. */
const sessionsAtMost = 20

/** Makes room for a new session of a device. */
const dropOthers = async ({ db, now }: Call, device_id: number): Promise<void> => {
  const ofDevice = db.deleteFrom('approver_sessions').where('device_id', '=', device_id)
  await ofDevice.where('expires_at', '<=', now).execute()
  const kept = await db
    .selectFrom('approver_sessions')
    .where('device_id', '=', device_id)
    .select('id')
    .orderBy('last_seen_at', 'desc')
    .orderBy('id', 'desc')
    .limit(sessionsAtMost - 1)
    .execute()
  const ids = kept.map(({ id }) => id)
  if (ids.length === sessionsAtMost - 1) await ofDevice.where('id', 'not in', ids).execute()
}

/** Sets the cookie of a session whose device has just signed. */
export const setConfirmed = (
  call: Call,
  { name, token }: Person['cookie'],
  device: { org_id: number; id: number },
): void => {
  const { keyring, now, service } = call
  const proof = sealConfirmation(
    keyring,
    { token_hash: sha256(token), org_id: device.org_id, device_id: device.id },
    now,
  )
  call.header('set-cookie', cookieOf(service.publicUrl, name, `${token}.${proof}`, cookieSeconds))
}

/** Opens a session of a device, and sets its cookie. */
export const startSession = async (
  call: Call,
  { id: device_id, org_id }: { id: number; org_id: number },
): Promise<void> => {
  const { db, now } = call
  const { publicUrl } = call.service
  const token = randomToken()
  await dropOthers(call, device_id)
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
  setConfirmed(call, { name: cookieName(publicUrl, org_id), token }, { org_id, id: device_id })
}

/** Ends a session, and the notifications to its phone. */
export const endSession = async (call: Call, person: Person): Promise<void> => {
  const { session_id, device_id, cookie } = person
  await call.db
    .deleteFrom('approver_sessions')
    .where('id', '=', session_id)
    .where('device_id', '=', device_id)
    .execute()
  await forgetPhone(call.db, person)
  call.header('set-cookie', cookieOf(call.service.publicUrl, cookie.name, '', 0))
}

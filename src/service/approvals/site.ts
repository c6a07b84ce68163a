import { isIP } from 'node:net'
import { Refusal } from '../refusal.ts'
import type { Db } from '../storage/schema.ts'

/** Where approvers sign: WebAuthn binds a key to `rp_id` and each signature to `origin`. */
export type Site = { origin: string; rp_id: string }

const setting = 'webauthn_rp_id'

const isLoopback = (host: string): boolean => host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host)

/** WebAuthn knows names only, and https but for this machine: the loopback address becomes `localhost`, others nothing. */
export const siteAt = (publicUrl: string): Site | undefined => {
  const url = new URL(publicUrl)
  if (isLoopback(url.hostname)) url.hostname = 'localhost'
  if (isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) return undefined
  if (url.protocol !== 'https:' && url.hostname !== 'localhost') return undefined
  return { origin: url.origin, rp_id: url.hostname }
}

const requireSite = (publicUrl: string): Site => {
  const site = siteAt(publicUrl)
  if (site) return site
  throw new Refusal(
    409,
    'public_url_needed',
    'Phones register with a name over https, and this service is reached without',
    {
      hint: 'Start it with its name: svc serve --public-url https://svc.example.com',
    },
  )
}

/** The site of a store: its `rp_id` stays what it was when the first device was enrolled, wherever the service moves. */
export const readSite = async (db: Db, publicUrl: string): Promise<Site> => {
  const kept = await db.selectFrom('settings').where('name', '=', setting).select('value').executeTakeFirst()
  const site = requireSite(publicUrl)
  return kept ? { ...site, rp_id: kept.value } : site
}

/** As `readSite`; from now on the `rp_id` stays. */
export const keepSite = async (db: Db, publicUrl: string): Promise<Site> => {
  await db
    .insertInto('settings')
    .values({ name: setting, value: requireSite(publicUrl).rp_id })
    .onConflict((of) => of.column('name').doNothing())
    .execute()
  return readSite(db, publicUrl)
}

/** What is wrong when registered devices cannot sign at this address; undefined when they can. */
export const siteProblem = async (db: Db, publicUrl: string): Promise<string | undefined> => {
  const kept = await db.selectFrom('settings').where('name', '=', setting).select('value').executeTakeFirst()
  const host = siteAt(publicUrl)?.rp_id ?? new URL(publicUrl).hostname
  if (!kept || host === kept.value || host.endsWith(`.${kept.value}`)) return undefined
  return `Devices were registered for ${kept.value} and cannot sign at ${publicUrl}: set --public-url back, or enroll them again`
}

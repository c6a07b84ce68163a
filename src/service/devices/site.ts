import { isIP } from 'node:net'
import { ofKeptDevice } from './active.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Db } from '../storage/schema.ts'
import { isLoopbackAddress } from '../../core/loopback.ts'

/** Where approvers sign: WebAuthn binds a key to `rp_id` and each signature to `origin`. */
export type Site = { origin: string; rp_id: string }

const setting = 'webauthn_rp_id'

/** WebAuthn knows names only, and https but for this machine: the loopback address becomes `localhost`, others nothing. */
export const siteAt = (publicUrl: string): Site | undefined => {
  const url = new URL(publicUrl)
  if (isLoopbackAddress(url.hostname)) url.hostname = 'localhost'
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
      hint: 'Start it with its name: svc serve --public-url https://svc.example.com, with --tls-cert and --tls-key or behind a tunnel that has https',
    },
  )
}

const readKept = async (db: Db): Promise<string | undefined> => {
  const row = await db.selectFrom('settings').where('name', '=', setting).select('value').executeTakeFirst()
  return row?.value
}

const isWithin = (host: string, rp_id: string): boolean => host === rp_id || host.endsWith(`.${rp_id}`)

/** The site of a store: its `rp_id` stays what it was when the first device was enrolled, wherever the service moves. */
export const readSite = async (db: Db, publicUrl: string): Promise<Site> => {
  const kept = await readKept(db)
  const site = requireSite(publicUrl)
  return kept === undefined ? site : { ...site, rp_id: kept }
}

const registered = (db: Db) => db.selectFrom('devices').where(ofKeptDevice('devices'))

/**
 * As `readSite`; from now on the `rp_id` stays. Where nobody could register at this address, it moves here once no device
 * is left that it is of; 409 before that.
 */
export const keepSite = async (db: Db, publicUrl: string): Promise<Site> => {
  const site = requireSite(publicUrl)
  const kept = await readKept(db)
  if (kept !== undefined && isWithin(site.rp_id, kept)) return { ...site, rp_id: kept }
  const bound = kept === undefined ? undefined : await registered(db).select('id').executeTakeFirst()
  if (bound)
    throw new Refusal(
      409,
      'rp_id_kept',
      `Devices are registered for ${kept}, and this service is at ${publicUrl}`,
      {
        hint: `Start it with --public-url https://${kept}, or revoke those devices first: svc user devices revoke`,
      },
    )
  await db
    .insertInto('settings')
    .values({ name: setting, value: site.rp_id })
    .onConflict((of) => of.column('name').doUpdateSet({ value: site.rp_id }))
    .execute()
  return site
}

const namedAtMost = 5

/** Which devices cannot sign at this address and what to do; undefined when all can. */
export const siteProblem = async (db: Db, publicUrl: string): Promise<string | undefined> => {
  const kept = await readKept(db)
  const host = siteAt(publicUrl)?.rp_id ?? new URL(publicUrl).hostname
  if (kept === undefined || isWithin(host, kept)) return undefined
  const bound = await registered(db).select(['id', 'org_id']).orderBy('id').execute()
  if (bound.length === 0) return undefined
  const named = bound.slice(0, namedAtMost).map(({ id, org_id }) => `device ${id} of organization ${org_id}`)
  const more = bound.length - named.length
  const which = [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ')
  return [
    `Devices were registered for ${kept} and cannot sign at ${publicUrl} (${which}).`,
    `Start at that name again (--public-url); or to stay here, revoke them (svc user devices revoke) and enroll again (svc user enroll)`,
  ].join(' ')
}

import { isIP } from 'node:net'
import { ofKeptDevice } from './active.ts'
import { conflict } from '../../core/refusal.ts'
import type { Db } from '../storage/schema.ts'
import { readSetting, writeSetting } from '../storage/settings.ts'
import { lockOrganizations } from '../storage/transaction.ts'
import { isLoopbackAddress } from '../../core/loopback.ts'

/** Where approvers sign: WebAuthn binds a key to `rp_id` and each signature to `origin`. */
export type Site = { origin: string; rp_id: string }

const setting = 'webauthn_rp_id'

/** WebAuthn requires a name, and https except on this machine: a loopback address becomes `localhost`. */
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
  throw conflict(
    'public_url_needed',
    'Phones can register only at a host name over https, and this service has none',
    'Start it with a host name: svc serve --public-url https://svc.example.com, with --tls-cert and --tls-key or behind a tunnel with https',
  )
}

const readBoundId = (db: Db): Promise<string | undefined> => readSetting(db, setting)

const isWithin = (host: string, rp_id: string): boolean => host === rp_id || host.endsWith(`.${rp_id}`)

/** The site of a store. Its `rp_id` is set when the first device is enrolled, and stays if the service moves. */
export const readSite = async (db: Db, publicUrl: string): Promise<Site> => {
  const site = requireSite(publicUrl)
  return { ...site, rp_id: (await readBoundId(db)) ?? site.rp_id }
}

const registeredDevices = (db: Db) => db.selectFrom('devices').where(ofKeptDevice('devices'))

/**
 * As `readSite`, and fixes the `rp_id`. If the address is not within the fixed one, the `rp_id` changes to this address,
 * unless devices are registered for the old one (409).
 */
export const bindSite = async (db: Db, publicUrl: string): Promise<Site> => {
  const site = requireSite(publicUrl)
  let bound = await readBoundId(db)
  if (bound !== undefined && isWithin(site.rp_id, bound)) return { ...site, rp_id: bound }
  // All organizations share it, so another node may have just fixed it.
  if (await lockOrganizations(db, [0])) {
    bound = await readBoundId(db)
    if (bound !== undefined && isWithin(site.rp_id, bound)) return { ...site, rp_id: bound }
  }
  if (bound !== undefined && (await registeredDevices(db).select('id').executeTakeFirst()))
    throw conflict(
      'rp_id_kept',
      `Devices are registered for ${bound}, and this service is at ${publicUrl}`,
      `Start it with --public-url https://${bound}, or revoke those devices first: svc user devices revoke`,
    )
  await writeSetting(db, setting, site.rp_id)
  return site
}

const maxNamed = 5

/** Which devices cannot sign at this address and what to do about it; undefined if all can. */
export const siteProblem = async (db: Db, publicUrl: string): Promise<string | undefined> => {
  const bound = await readBoundId(db)
  const host = siteAt(publicUrl)?.rp_id ?? new URL(publicUrl).hostname
  if (bound === undefined || isWithin(host, bound)) return undefined
  const devices = await registeredDevices(db).select(['id', 'org_id']).orderBy('id').execute()
  if (devices.length === 0) return undefined
  const named = devices.slice(0, maxNamed).map(({ id, org_id }) => `device ${id} of organization ${org_id}`)
  if (devices.length > maxNamed) named.push(`${devices.length - maxNamed} more`)
  return `Devices were registered for ${bound} and cannot sign at ${publicUrl} (${named.join(', ')}). Start the service at that name again (--public-url), or revoke the devices (svc user devices revoke) and enroll them again (svc user enroll)`
}

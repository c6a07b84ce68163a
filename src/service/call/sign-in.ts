import { sql } from 'kysely'

/** The OAuth client that every installation of svc is. A person signs it in, and its keys work everywhere. */
export const terminalClient = 'svc'

/** What `api_keys.client_id` says of the keys of one installation. A code of a device never reaches those of a browser. */
export const terminalId = (installation: string, byDevice = false): string =>
  `${terminalClient}${byDevice ? '-device' : ''}:${installation}`

/**
 * True of a key that no person signed in with, or whose person could still sign in: an active member, with the device that
 * consented and, unless the key only asks, the role of an administrator. The statement itself sees each change of these.
 */
export const ofLiveSignIn = (key: 'k' | 'api_keys') => {
  const of = (column: string) => sql.ref(`${key}.${column}`)
  return sql<boolean>`(${of('client_id')} is null or ${of('audience')} is not null or exists (
    select 1 from devices sd join memberships sm on sm.org_id = sd.org_id and sm.user_id = sd.user_id
    where sd.id = ${of('consented_with')} and sd.org_id = ${of('org_id')} and sd.user_id = ${of('owner_user_id')}
      and sd.state = 'active' and sm.state = 'active'
      and (${of('scopes')} = 'ask' or sm.role in ('admin', 'operator'))))`
}

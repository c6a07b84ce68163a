import { sql } from 'kysely'

/** The OAuth client that every installation of svc is. A person signs it in, and its keys work everywhere. */
export const terminalClient = 'svc'

/** What `api_keys.client_id` says of the keys of one installation. A code of a device never reaches those of a browser. */
export const terminalId = (installation: string, byDevice = false): string =>
  `${terminalClient}${byDevice ? '-device' : ''}:${installation}`

export const isByCode = (clientId: string): boolean => clientId.startsWith(`${terminalClient}-device:`)

const isConsented = (key: 'k' | 'api_keys' | 'above') => {
  const of = (column: string) => sql.ref(`${key}.${column}`)
  return sql<boolean>`(${of('consented_with')} is null or ${of('audience')} is not null
    or ${of('owner_left_at')} is not null or exists (
    select 1 from memberships sm where sm.org_id = ${of('org_id')} and sm.user_id = ${of('owner_user_id')}
      and sm.state = 'active' and (${of('scopes')} = 'ask' or sm.role in ('admin', 'operator'))
      and (${of('client_id')} is null or exists (
        select 1 from devices sd where sd.id = ${of('consented_with')} and sd.org_id = sm.org_id
          and sd.user_id = sm.user_id and sd.state = 'active'))))`
}

/**
 * True of a key that no person consented to, or whose person could still consent: an active member and, unless the key only
 * asks, an administrator; and of the keys that such a key created. The keys of a terminal also need the device that consented.
 * The statement itself sees each change. A key that goes on after its person left ends when it expires.
 */
export const ofLiveSignIn = (key: 'k' | 'api_keys') => {
  const of = (column: string) => sql.ref(`${key}.${column}`)
  return sql<boolean>`(${isConsented(key)} and (${of('person_key')} is null or ${of('owner_left_at')} is not null
    or exists (select 1 from api_keys above where above.id = ${of('person_key')} and ${isConsented('above')})))`
}

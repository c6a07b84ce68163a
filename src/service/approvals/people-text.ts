import { sql } from 'kysely'
import { hiddenNumber } from '../../core/phone-parts.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Call } from '../call/call.ts'
import { parsePhone } from '../call/input.ts'
import { readMobiles } from '../call/tenant.ts'
import { quotedName } from '../devices/notices.ts'

/** Of a membership `m`: 1 if another member, also one on hold, has the same name, or one that looks like it. */
export const hasTwin = sql<0 | 1>`(case when exists (select 1 from memberships t where t.org_id = m.org_id
  and t.look_alike = m.look_alike and t.user_id <> m.user_id and t.state in ('active', 'pending')) then 1 else 0 end)`

const nameText = (first: string, last: string): string => quotedName(safeLine(`${first} ${last}`))

/** Somebody whom a call adds, by the name that it gives them and the number that they have. */
export const newUserText = ({
  first_name,
  last_name,
  mobile,
  country_code,
}: Record<string, unknown>): string => {
  const number = parsePhone(String(mobile), country_code as string | undefined).mobile
  return `${nameText(String(first_name), String(last_name))} (new, ${hiddenNumber(number)})`
}

/**
 * Members in what people sign, in this order: `Ada Lovelace (user 3, ••••••••0101)`. The text says so when another active
 * member has the same name, or one that looks like it. A name that is not plain is quotedName, as JSON.
 */
export const peopleText = async (
  call: Pick<Call, 'db' | 'keyring'>,
  org_id: number,
  users: readonly number[],
): Promise<string[]> => {
  if (users.length === 0) return []
  const mobiles = await readMobiles(call, users)
  const rows = await call.db
    .selectFrom('memberships as m')
    .where('m.org_id', '=', org_id)
    .where('m.user_id', 'in', users)
    .select(['m.user_id', 'm.first_name', 'm.last_name', hasTwin.as('twin')])
    .execute()
  const texts = new Map(
    rows.map(({ user_id, first_name, last_name, twin }) => {
      const name = nameText(first_name, last_name)
      const warning = twin ? '; another member has a name like this' : ''
      return [user_id, `${name} (user ${user_id}, ${hiddenNumber(mobiles.get(user_id)!)}${warning})`]
    }),
  )
  return users.map((id) => texts.get(id) ?? `User ${id}`)
}

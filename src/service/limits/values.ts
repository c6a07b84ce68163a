import { quotas, smsCountries, type Quota } from '../../contract/quotas.ts'
import type { Db } from '../storage/schema.ts'
import { statement } from '../storage/statement.ts'

/** What an organization may use. */
export type LimitValues = { [Q in Quota]: number } & { sms_countries: readonly string[] }

/** The names as the operator sets them. */
export type LimitName = keyof LimitValues

export const standardOf = <N extends LimitName>(name: N): LimitValues[N] =>
  (name === 'sms_countries' ? smsCountries.standard : quotas[name as Quota].standard) as LimitValues[N]

const readValue = statement((db, { orgId, name }: { orgId: number; name: string }) =>
  db.selectFrom('organization_limits').where('org_id', '=', orgId).where('name', '=', name).select('value'),
)

/** One limit of an organization, as it is now. */
export const readLimit = async <N extends LimitName>(
  db: Db,
  orgId: number,
  name: N,
): Promise<LimitValues[N]> => {
  const [row] = (await readValue(db, { orgId, name })).rows
  return row ? (JSON.parse(row.value) as LimitValues[N]) : standardOf(name)
}

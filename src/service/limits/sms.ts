import { smsCountries } from '../../contract/quotas.ts'
import { conflict } from '../../core/refusal.ts'
import { parsePhone } from '../call/input.ts'
import type { Message } from '../call/message.ts'
import type { Db } from '../storage/schema.ts'
import { readLimit } from './values.ts'

/** Whether text messages may go to numbers of this prefix. */
const isAllowed = (prefix: string, countries: readonly string[]): boolean =>
  countries.includes(prefix) ||
  (countries.includes('all') && !(smsCountries.global as readonly string[]).includes(prefix))

/** Refuses a text message to a country that the operator of the service has not allowed, before it is kept. */
export const checkCountry = async (db: Db, { org_id, channel, to }: Message): Promise<void> => {
  // Organization 0 is the service itself.
  if (channel !== 'sms' || org_id === 0) return
  const countries = await readLimit(db, org_id, 'sms_countries')
  const prefix = parsePhone(to).country_code
  if (isAllowed(prefix, countries)) return
  const allowed = [...countries, prefix].join(',')
  throw conflict(
    'sms_country_not_allowed',
    `Text messages to ${prefix} are not allowed for this organization`,
    `Only the operator of the service can allow them: svc org limits set --org ${org_id} --sms-countries ${allowed}`,
    { quota: 'sms_countries', limit: countries },
  )
}

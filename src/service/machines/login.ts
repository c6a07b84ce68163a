import type { Selectable } from 'kysely'
import { sameSecret } from '../../core/ids.ts'
import { Refusal } from '../../core/refusal.ts'
import { readPhone } from '../../factors/phone.ts'
import type { HandlerOf } from '../call/call.ts'
import type { RowInput } from '../call/row-ids.ts'
import { consumeOrRefuse, resetLimit } from '../limits/rate-limit.ts'
import type { Tables } from '../storage/schema.ts'
import { findOrganization, subjectOf } from './machine.ts'
import { foldName, readPrice } from './quotes/quote.ts'

const failures = { kind: 'machine_login', atMost: 5, windowMs: 10 * 60_000 }

/** What a login of an unknown machine is compared with, so that it takes as long as any other. */
const unknown = {
  stock_name: '',
  stock_symbol: null,
  stock_title: null,
  total_price: '',
  current_stock_price: '',
  machine_name: '',
  mobile: '',
} satisfies Partial<Selectable<Tables['machines']>>
const columns = Object.keys(unknown) as (keyof typeof unknown)[]

/** Compares every value, whatever was wrong before. */
const matches = (
  { stockName, totalPrice, currentStockPrice, machineName, mobile }: RowInput<'loginMachine'>,
  known: Pick<Selectable<Tables['machines']>, keyof typeof unknown>,
): boolean => {
  const stock = foldName(stockName)
  const phone = readPhone(mobile ?? '')
  const names = [known.stock_name, known.stock_symbol, known.stock_title].map((name) =>
    sameSecret(stock, foldName(name ?? '')),
  )
  const prices = [
    sameSecret(readPrice(totalPrice)!, known.total_price),
    sameSecret(readPrice(currentStockPrice)!, known.current_stock_price),
  ]
  // A client may send its whole registration.
  const rest = [
    machineName === undefined || sameSecret(machineName, known.machine_name),
    mobile === undefined || sameSecret('mobile' in phone ? phone.mobile : mobile, known.mobile),
  ]
  return names.includes(true) && ![...prices, ...rest].includes(false)
}

/** One answer for an unknown machine and for a wrong value. */
const refused = (): Refusal =>
  new Refusal(403, 'login_refused', 'These are not the values of a registered machine', {
    hint: 'machineId, stockName, totalPrice and currentStockPrice must all match the registration',
  })

/**
 * Compares what a machine knows with its registration. The refusal of wrong values is returned, not thrown, so that the
 * failure counts. Throws 429 after five failures in ten minutes; a successful login resets the count.
 */
export const loginMachine: HandlerOf<'loginMachine'> = async (input, call) => {
  const { machineId } = input
  const org_id = await findOrganization(call, input.org_id, machineId)
  const counted = { org_id, subject: machineId }
  await consumeOrRefuse(call, failures, counted, {
    code: 'too_many_logins',
    what: `This machine failed to log in ${failures.atMost} times in the last ${failures.windowMs / 60_000} minutes`,
  })
  const known = await call.db
    .selectFrom('machines')
    .where('org_id', '=', org_id)
    .where('machine_id', '=', machineId)
    .select(columns)
    .executeTakeFirst()
  const isRight = matches(input, known ?? unknown) && known !== undefined
  await call.audit(org_id, subjectOf(machineId), [isRight ? 'logged_in' : 'refused'])
  if (!isRight) return refused()
  await resetLimit(call, failures, counted)
  return undefined
}

import type { iot } from '../../contract/iot.ts'
import { sameSecret } from '../../core/ids.ts'
import { Refusal } from '../../core/refusal.ts'
import { readPhone } from '../../rules/phone.ts'
import type { HandlerOf } from '../call/call.ts'
import type { RowInput } from '../call/row-ids.ts'
import { consumeOrRefuse, resetLimit } from '../limits/rate-limit.ts'
import type { Tables } from '../storage/schema.ts'
import { organizationOfMachine, subjectOf } from './machine.ts'
import { foldName, readPrice } from './quotes/quote.ts'

type Login = RowInput<typeof iot.loginMachine>
type Known = Pick<
  Tables['machines'],
  | 'stock_name'
  | 'stock_symbol'
  | 'stock_title'
  | 'total_price'
  | 'current_stock_price'
  | 'machine_name'
  | 'mobile'
>

const failures = { kind: 'machine_login', atMost: 5, windowMs: 10 * 60_000 }

const nothing: Known = {
  stock_name: '',
  stock_symbol: null,
  stock_title: null,
  total_price: '',
  current_stock_price: '',
  machine_name: '',
  mobile: '',
}

const numberIn = (mobile: string): string => {
  const read = readPhone(mobile)
  return 'mobile' in read ? read.mobile : mobile
}

/** All is compared, whatever was wrong before. */
const matches = (
  { stockName, totalPrice, currentStockPrice, machineName, mobile }: Login,
  known: Known,
): boolean => {
  const stock = foldName(stockName)
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
    mobile === undefined || sameSecret(numberIn(mobile), known.mobile),
  ]
  return names.includes(true) && ![...prices, ...rest].includes(false)
}

/** One answer, whether it is the machine that is not there or a value that is wrong. */
const refused = (): Refusal =>
  new Refusal(403, 'login_refused', 'These are not the values of a registered machine', {
    hint: 'machineId, stockName, totalPrice and currentStockPrice must all match the registration',
  })

/**
 * Compares what a machine knows with its registration. A Refusal for wrong values is answered, not thrown: the failure is
 * to count. 429 after five of them in ten minutes; a login that goes well forgets them.
 */
export const loginMachine: HandlerOf<typeof iot.loginMachine> = async (input, call) => {
  const { machineId } = input
  const org_id = await organizationOfMachine(call, machineId, input.org_id)
  const counted = { org_id, subject: machineId }
  await consumeOrRefuse(call, failures, counted, {
    code: 'too_many_logins',
    what: `This machine failed to log in ${failures.atMost} times in the last ${failures.windowMs / 60_000} minutes`,
  })
  const known = await call.db
    .selectFrom('machines')
    .where('org_id', '=', org_id)
    .where('machine_id', '=', machineId)
    .select([
      'stock_name',
      'stock_symbol',
      'stock_title',
      'total_price',
      'current_stock_price',
      'machine_name',
      'mobile',
    ])
    .executeTakeFirst()
  const right = matches(input, known ?? nothing) && known !== undefined
  await call.audit(org_id, subjectOf(machineId), [right ? 'logged_in' : 'refused'])
  if (!right) return refused()
  await resetLimit(call, failures, counted)
  return undefined
}

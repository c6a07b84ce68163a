import * as z from 'zod/mini'
import { chosen, formed, line, nullable, optional, positive, shown } from './field.ts'
import { operations } from './declaration.ts'
import { mobileE164, org_id, orgOfKey, paging, personal, time } from './records.ts'

/** Nothing is trimmed: two spellings would be two machines. */
const machineId = formed(
  /^[A-Za-z0-9._-]+$/,
  'must contain only letters, digits, dots, hyphens and underscores, such as press-01.a',
).check(z.maxLength(128, 'must have at most 128 characters'))

/** A decimal, never a float: commas between thousands or none at all, and two decimals at most. */
const price = formed(
  /^(?:0|[1-9]\d*|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d{1,2})?$/,
  'must be a price such as 1,234.50 or 1234.5: digits, commas between thousands or none, at most 2 decimals',
).check(z.maxLength(40, 'must have at most 40 characters'))

const registration = {
  machineId: shown(machineId, 'Machine id: letters, digits, dot, hyphen, underscore', {
    example: 'press-01',
  }),
  stockName: shown(line(120), 'Name or code of the stock, in any case', { example: 'AAPL' }),
  totalPrice: shown(price, 'Total price', { example: '12,500.00' }),
  currentStockPrice: shown(price, 'Price of the stock at registration', { example: '250.42' }),
}

const machine = {
  machineId: chosen(z.string(), 'Machine id'),
  machineName: chosen(z.string(), 'Name of the machine'),
  org_id: chosen(positive, 'Organization id'),
  registered_at: chosen(time, 'When it was registered'),
}
/** Without the stock and the prices, with which a machine logs in. */
const machineRecord = z.looseObject({
  ...machine,
  mobile: chosen(z.string(), 'Mobile number, E.164', personal.e164),
})
const machine_id = chosen(machineId, 'Machine id', { example: 'press-01', flag: 'machine-id' })

const values = '--stock-name AAPL --total-price 12,500.00 --current-stock-price 250.42'

export const iot = operations({
  registerMachine: {
    route: 'POST /dynamic_auth/register',
    cli: 'iot register',
    args: ['machineId'],
    scope: 'app',
    summary: 'Register a machine with its stock and prices',
    message: 'Machine registered',
    example: `press-01 ${values} --machine-name "Press 1" --mobile +12025550101`,
    input: z.strictObject({
      ...registration,
      machineName: shown(line(120), 'Name of the machine, for people', { example: 'Press 1' }),
      mobile: shown(mobileE164, 'Mobile number with plus and country prefix', personal.e164),
      org_id: orgOfKey,
    }),
    data: z.looseObject({
      ...machine,
      stock_symbol: nullable(z.string(), 'Code of the stock; null if the quote provider does not know it'),
    }),
  },
  loginMachine: {
    route: 'POST /dynamic_auth/login',
    cli: 'iot login',
    args: ['machineId'],
    scope: 'app',
    summary: 'Log in a machine; all four values must match its registration',
    message: 'Machine logged in',
    example: `press-01 ${values}`,
    input: z.strictObject({
      ...registration,
      machineName: optional(line(120), 'Name of the machine; must match if present', {
        example: 'Press 1',
        flag: 'machine-name',
      }),
      mobile: optional(mobileE164, 'Mobile number; must match if present', personal.e164),
      org_id: orgOfKey,
    }),
  },
  verifyMachine: {
    route: 'POST /dynamic_auth/verify',
    cli: 'iot verify',
    args: ['machine_id'],
    effect: 'read',
    scope: 'app',
    summary: 'Check whether a machine is registered',
    message: 'Machine known',
    example: 'press-01',
    input: z.strictObject({
      // The specification uses snake case for this field only.
      machine_id: shown(machineId, 'Machine id', { example: 'press-01' }),
      org_id: orgOfKey,
    }),
    data: z.looseObject({
      ...machine,
      known: chosen(z.literal(true), 'Always true; an unknown machine is answered with 404'),
    }),
  },
  listMachines: {
    route: 'GET /svc/v1/organizations/{org_id}/machines',
    cli: 'iot list',
    scope: ['read', 'app'],
    summary: 'List the registered machines, without the values that they log in with',
    message: 'Machines',
    example: '--org acme',
    input: z.strictObject({ org_id, ...paging }),
    data: z.array(machineRecord),
    columns: ['machineId', 'machineName', 'mobile', 'registered_at'],
    wide: ['mobile'],
  },
  deleteMachine: {
    route: 'DELETE /svc/v1/organizations/{org_id}/machines/{machine_id}',
    cli: 'iot delete',
    scope: 'app',
    summary: 'Delete the registration of a machine, which can no longer log in',
    message: 'Machine deleted',
    example: 'press-01 --org acme --yes',
    input: z.strictObject({ org_id, machine_id }),
  },
  getStockPrice: {
    route: 'GET /get/stock-price/{Symbol}',
    cli: 'iot price',
    scope: 'app',
    summary: 'Show the price of a stock',
    message: 'Stock price',
    example: 'AAPL',
    input: z.strictObject({
      Symbol: shown(line(120), 'Code or name of the stock, in any case', { example: 'AAPL' }),
    }),
    data: z.looseObject({
      stockName: shown(z.string(), 'Name of the stock'),
      stockPrice: shown(z.string(), 'Price, with thousands separators and 2 decimals'),
      stockExchangeName: shown(z.string(), 'Exchange'),
      symbol: chosen(z.string(), 'Code of the stock'),
      as_of: chosen(time, 'Time of the price'),
      stale: chosen(
        z.boolean(),
        'Whether this is not the current price: a sample, or the last known price of a provider that failed',
      ),
      source: chosen(
        z.string(),
        'sample (not for real use: set quotes in the configuration of svc serve) or http',
      ),
    }),
  },
})

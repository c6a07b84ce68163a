import { conflict, invalid, notFound } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { parsePhone } from '../call/input.ts'
import { readPage } from '../call/pagination.ts'
import { reachOrganization } from '../call/tenant.ts'
import { readPrice, showPrice } from './quotes/quote.ts'

/** How many organizations a refusal names. */
const named = 10

/**
 * The organization that a call means: the one that it names, the one of its key, the only one that has this machine, or
 * the only one there is. Throws 422 with the choices, or 404 if there is no organization.
 */
export const findOrganization = async (
  { db, caller }: Pick<Call, 'db' | 'caller'>,
  org_id: number | undefined,
  machine_id?: string,
): Promise<number> => {
  if (org_id !== undefined) await reachOrganization({ db, caller }, org_id)
  const known = org_id ?? caller.orgId
  if (known !== null) return known
  const organizations = db
    .selectFrom('organizations as o')
    .select('o.id')
    .orderBy('o.id')
    .limit(named + 1)
  const withMachine =
    machine_id === undefined
      ? []
      : await organizations
          .innerJoin('machines as m', 'm.org_id', 'o.id')
          .where('m.machine_id', '=', machine_id)
          .execute()
  const rows = withMachine.length > 0 ? withMachine : await organizations.execute()
  const ids = rows.map(({ id }) => id)
  const [only, ...others] = ids
  if (only === undefined) throw notFound('Organization')
  if (others.length === 0) return only
  throw invalid(
    'org_id',
    'is required: an operator key reaches several organizations',
    `use org_id, one of ${ids.slice(0, named).join(', ')}${ids.length > named ? ', …' : ''}`,
  )
}

/** The audit subject of a machine. */
export const subjectOf = (machineId: string): string => `machine:${machineId}`

export const registerMachine: HandlerOf<'registerMachine'> = {
  before: async (input, { service }) => {
    const { machineId, machineName, stockName } = input
    const { mobile } = parsePhone(input.mobile)
    // A login accepts the code and the name of the stock too. A provider that fails does not stop a registration.
    const quote = await service.quotes.find(stockName).catch(() => undefined)
    const stock_symbol = quote?.symbol ?? null
    return async (call) => {
      const org_id = await findOrganization(call, input.org_id)
      const { created_at } = await call.db
        .insertInto('machines')
        .values({
          org_id,
          machine_id: machineId,
          machine_name: machineName,
          stock_name: stockName,
          stock_symbol,
          stock_title: quote?.name ?? null,
          total_price: readPrice(input.totalPrice)!,
          current_stock_price: readPrice(input.currentStockPrice)!,
          mobile,
          created_at: call.now,
          updated_at: call.now,
        })
        .onConflict((of) => of.columns(['org_id', 'machine_id']).doNothing())
        .returning('created_at')
        .executeTakeFirstOrThrow(() =>
          conflict(
            'machine_exists',
            `Machine "${machineId}" is already registered`,
            'Register this machine with another machineId',
          ),
        )
      await call.audit(org_id, subjectOf(machineId))
      return { machineId, machineName, org_id, stock_symbol, registered_at: created_at }
    }
  },
}

/** Shows only what is of no use to log in: a machine logs in with the rest of its registration. */
export const verifyMachine: HandlerOf<'verifyMachine'> = async ({ machine_id, ...input }, call) => {
  const org_id = await findOrganization(call, input.org_id, machine_id)
  const { machine_name, created_at } = await call.db
    .selectFrom('machines')
    .where('org_id', '=', org_id)
    .where('machine_id', '=', machine_id)
    .select(['machine_name', 'created_at'])
    .executeTakeFirstOrThrow(() => notFound('Machine', 'Register it: svc iot register'))
  return { machineId: machine_id, known: true, machineName: machine_name, org_id, registered_at: created_at }
}

export const getStockPrice: HandlerOf<'getStockPrice'> = {
  before: async ({ Symbol }, { service }) => {
    const quote = await service.quotes.find(Symbol)
    if (!quote)
      throw notFound(
        'Stock',
        'Use its code or its full name as the quote provider knows it, such as AAPL or Apple Inc.',
      )
    const { name, price, exchange, symbol, as_of, stale, source } = quote
    const shown = { stockName: name, stockPrice: showPrice(price), stockExchangeName: exchange }
    return async () => ({ ...shown, symbol, as_of, stale, source })
  },
}

// Lists and removes registrations. No answer shows the stock and the prices: a machine logs in with them.

const columns = [
  'id',
  'machine_id as machineId',
  'machine_name as machineName',
  'mobile',
  'org_id',
  'created_at as registered_at',
] as const

export const listMachines: HandlerOf<'listMachines'> = async ({ org_id }, call) => {
  await reachOrganization(call, org_id)
  const query = call.db.selectFrom('machines').where('org_id', '=', org_id).select(columns)
  return (await readPage(call, query, 'id')).map(({ id: _id, ...shown }) => shown)
}

export const deleteMachine: HandlerOf<'deleteMachine'> = async ({ org_id, machine_id }, call) => {
  await reachOrganization(call, org_id)
  await call.db
    .deleteFrom('machines')
    .where('org_id', '=', org_id)
    .where('machine_id', '=', machine_id)
    .returning('id')
    .executeTakeFirstOrThrow(() =>
      notFound('Machine', `svc iot list --org ${org_id} shows the machines of the organization`),
    )
  await call.audit(org_id, subjectOf(machine_id))
}

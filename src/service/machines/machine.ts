import type { iot } from '../../contract/iot.ts'
import { conflict, invalid, notFound, Refusal } from '../../core/refusal.ts'
import type { Call, HandlerOf, Outside } from '../call/call.ts'
import { parsePhone } from '../call/input.ts'
import type { RowData, RowInput } from '../call/row-ids.ts'
import { reachOrganization } from '../call/tenant.ts'
import { readPrice } from './quotes/quote.ts'

type Deps = Pick<Call, 'db' | 'caller'>

const named = 10

/** 422 that names the choices; 404 where there is none at all. */
const chooseOne = (ids: number[]): number => {
  const [only, ...others] = ids
  if (only === undefined) throw notFound('Organization')
  if (others.length === 0) return only
  const more = ids.length > named ? ', …' : ''
  throw invalid(
    'org_id',
    'is required: an operator key reaches several organizations',
    `use org_id, one of ${ids.slice(0, named).join(', ')}${more}`,
  )
}

/** The organization that is meant: the one given, the caller's, or the only one there is. */
export const organizationMeant = async (call: Deps, org_id: number | undefined): Promise<number> => {
  if (org_id !== undefined) await reachOrganization(call, org_id)
  const meant = org_id ?? call.caller.orgId
  if (meant !== null) return meant
  const rows = await call.db
    .selectFrom('organizations')
    .select('id')
    .orderBy('id')
    .limit(named + 1)
    .execute()
  return chooseOne(rows.map(({ id }) => id))
}

/** As `organizationMeant`; where only one organization has such a machine, that one. */
export const organizationOfMachine = async (
  call: Deps,
  machine_id: string,
  org_id: number | undefined,
): Promise<number> => {
  if (org_id !== undefined || call.caller.orgId !== null) return organizationMeant(call, org_id)
  const rows = await call.db
    .selectFrom('machines')
    .where('machine_id', '=', machine_id)
    .select('org_id')
    .orderBy('org_id')
    .limit(named + 1)
    .execute()
  return rows.length === 0 ? organizationMeant(call, undefined) : chooseOne(rows.map((row) => row.org_id))
}

type Registration = RowInput<typeof iot.registerMachine>

const unknownMachine = (): Refusal =>
  new Refusal(404, 'not_found', 'Machine not found', { hint: 'Register it: svc iot register' })

export const subjectOf = (machineId: string): string => `machine:${machineId}`

/** The code and name of a stock make more spellings count at a login; no machine waits for a provider that fails. */
const stockOf = async ({ service }: Outside, stockName: string) => {
  const quote = await service.quotes.find(stockName).catch(() => undefined)
  return {
    stock_name: stockName,
    stock_symbol: quote?.symbol ?? null,
    stock_title: quote?.name ?? null,
  }
}

/** Looks at the stock before the transaction. Fails with 409 where the organization has a machine of that id. */
const prepareRegistration = async (input: Registration, outside: Outside) => {
  const { mobile } = parsePhone(input.mobile)
  const stock = await stockOf(outside, input.stockName)
  return async (call: Call): Promise<RowData<typeof iot.registerMachine>> => {
    const org_id = await organizationMeant(call, input.org_id)
    const row = await call.db
      .insertInto('machines')
      .values({
        org_id,
        machine_id: input.machineId,
        machine_name: input.machineName,
        ...stock,
        total_price: readPrice(input.totalPrice)!,
        current_stock_price: readPrice(input.currentStockPrice)!,
        mobile,
        created_at: call.now,
        updated_at: call.now,
      })
      .onConflict((of) => of.columns(['org_id', 'machine_id']).doNothing())
      .returning('created_at')
      .executeTakeFirst()
    if (!row)
      throw conflict(
        'machine_exists',
        `Machine "${input.machineId}" is already registered`,
        'Register this machine with another machineId',
      )
    await call.audit(org_id, subjectOf(input.machineId))
    return {
      machineId: input.machineId,
      machineName: input.machineName,
      org_id,
      stock_symbol: stock.stock_symbol,
      registered_at: row.created_at,
    }
  }
}

/** Tells of a machine only what opens nothing: the rest of its registration is what it logs in with. */
export const verifyMachine: HandlerOf<typeof iot.verifyMachine> = async ({ machine_id, org_id }, call) => {
  const orgId = await organizationOfMachine(call, machine_id, org_id)
  const row = await call.db
    .selectFrom('machines')
    .where('org_id', '=', orgId)
    .where('machine_id', '=', machine_id)
    .select(['machine_name', 'created_at'])
    .executeTakeFirstOrThrow(() => unknownMachine())
  return {
    machineId: machine_id,
    known: true,
    machineName: row.machine_name,
    org_id: orgId,
    registered_at: row.created_at,
  }
}

export const registerMachine: HandlerOf<typeof iot.registerMachine> = { before: prepareRegistration }

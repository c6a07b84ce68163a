import type { iot } from '../../contract/iot.ts'
import { notFound } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { changedFields, parsePhone } from '../call/input.ts'
import { readPage } from '../call/pagination.ts'
import { reachOrganization } from '../call/tenant.ts'
import { subjectOf } from './machine.ts'
import { readPrice } from './quotes/quote.ts'

// Lists, corrects and removes registrations. No answer shows the stock and the prices: a machine logs in with them.

const columns = [
  'id',
  'machine_id as machineId',
  'machine_name as machineName',
  'mobile',
  'org_id',
  'created_at as registered_at',
  'updated_at',
] as const

const selectMachines = ({ db }: Pick<Call, 'db'>, org_id: number) =>
  db.selectFrom('machines').where('org_id', '=', org_id).select(columns)

const recordOf = <Row extends { id: number }>(row: Row): Omit<Row, 'id'> => {
  const { id: _, ...shown } = row
  return shown
}

const fields = ['machineName', 'stockName', 'totalPrice', 'currentStockPrice', 'mobile'] as const

const unknownIn = (org_id: number) => () =>
  notFound('Machine', `svc iot list --org ${org_id} shows the machines of the organization`)

export const listMachines: HandlerOf<typeof iot.listMachines> = async ({ org_id }, call) => {
  await reachOrganization(call, org_id)
  return (await readPage(call, selectMachines(call, org_id), 'id')).map(recordOf)
}

export const getMachine: HandlerOf<typeof iot.getMachine> = async ({ org_id, machine_id }, call) => {
  await reachOrganization(call, org_id)
  const row = await selectMachines(call, org_id)
    .where('machine_id', '=', machine_id)
    .executeTakeFirstOrThrow(unknownIn(org_id))
  return recordOf(row)
}

export const updateMachine: HandlerOf<typeof iot.updateMachine> = {
  before: async ({ org_id, machine_id, ...input }, { service }) => {
    const changes = changedFields(input, fields)
    const { machineName, stockName, totalPrice, currentStockPrice, mobile } = changes
    const quote =
      stockName === undefined ? undefined : await service.quotes.find(stockName).catch(() => undefined)
    const set = {
      ...(machineName !== undefined && { machine_name: machineName }),
      ...(stockName !== undefined && {
        stock_name: stockName,
        stock_symbol: quote?.symbol ?? null,
        stock_title: quote?.name ?? null,
      }),
      ...(totalPrice !== undefined && { total_price: readPrice(totalPrice)! }),
      ...(currentStockPrice !== undefined && { current_stock_price: readPrice(currentStockPrice)! }),
      ...(mobile !== undefined && { mobile: parsePhone(mobile).mobile }),
    }
    return async (call) => {
      await reachOrganization(call, org_id)
      const row = await call.db
        .updateTable('machines')
        .set({ ...set, updated_at: call.now })
        .where('org_id', '=', org_id)
        .where('machine_id', '=', machine_id)
        .returning(columns)
        .executeTakeFirstOrThrow(unknownIn(org_id))
      await call.audit(org_id, subjectOf(machine_id))
      return recordOf(row)
    }
  },
}

export const deleteMachine: HandlerOf<typeof iot.deleteMachine> = async ({ org_id, machine_id }, call) => {
  await reachOrganization(call, org_id)
  await call.db
    .deleteFrom('machines')
    .where('org_id', '=', org_id)
    .where('machine_id', '=', machine_id)
    .returning('id')
    .executeTakeFirstOrThrow(unknownIn(org_id))
  await call.audit(org_id, subjectOf(machine_id))
}

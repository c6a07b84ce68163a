import type { Generated } from 'kysely'
import type { Times } from './times.ts'

export type MachinesTables = {
  /** Prices are decimals in canonical form: no separators, two decimals. */
  machines: {
    id: Generated<number>
    org_id: number
    machine_id: string
    machine_name: string
    stock_name: string
    stock_symbol: string | null
    total_price: string
    current_stock_price: string
    mobile: string
  } & Times
  machine_failures: { org_id: number; machine_id: string; since: string; count: number }
}

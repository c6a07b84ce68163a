import type { Generated } from 'kysely'
import type { Times } from './times.ts'

export type MachinesTables = {
  /**
   * Prices are decimals in canonical form: no separators, two decimals. `stock_name` is what was typed; the two below it
   * are the stock's code and name where the provider of quotes knew it.
   */
  machines: {
    id: Generated<number>
    org_id: number
    machine_id: string
    machine_name: string
    stock_name: string
    stock_symbol: string | null
    stock_title: string | null
    total_price: string
    current_stock_price: string
    mobile: string
  } & Times
}

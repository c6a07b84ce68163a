import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { Tables } from '../storage/schema.ts'
import { deriveKey } from './derived-keys.ts'

/**
 * Columns that a decision relies on are covered by the MAC of their row; a new column does not compile before somebody has
 * said whether it is one. Left out is what each use changes, what a person only reads, and what is authenticated by itself.
 */
const covered = {
  signing_keys: {
    kid: true,
    public_jwk: true,
    wrapped_jwk: false,
    created_at: true,
    retired_at: true,
    row_mac: false,
  },
} satisfies { [T in keyof Tables]?: Record<keyof Tables[T], boolean> }

export type SealedTable = keyof typeof covered
export type SealedRow<T extends SealedTable> = Omit<Selectable<Tables[T]>, 'row_mac'>

const columnsOf = Object.fromEntries(
  Object.entries(covered).map(([table, columns]) => [
    table,
    Object.entries(columns).flatMap(([column, isCovered]) => (isCovered ? [column] : [])),
  ]),
) as Record<SealedTable, string[]>

export type RowMacs = {
  macOf<T extends SealedTable>(table: T, row: SealedRow<T>): string
  /** Whether the service wrote this row, and nobody else has changed it since. */
  holds<T extends SealedTable>(table: T, row: SealedRow<T> & { row_mac: string | null }): boolean
}

/** HMAC-SHA-256 over the table and the covered columns of a row. */
export const createRowMacs = (masterKey: Buffer): RowMacs => {
  const key = deriveKey(masterKey, 'rows')
  const mac = (table: SealedTable, row: object): Buffer =>
    createHmac('sha256', key)
      .update(
        JSON.stringify([
          table,
          ...columnsOf[table].map((column) => (row as Record<string, unknown>)[column] ?? null),
        ]),
      )
      .digest()
  return {
    macOf: (table, row) => mac(table, row).toString('base64url'),
    holds: (table, row) => {
      const kept = Buffer.from(row.row_mac ?? '', 'base64url')
      const wanted = mac(table, row)
      return kept.length === wanted.length && timingSafeEqual(kept, wanted)
    },
  }
}

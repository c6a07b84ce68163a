import { createHmac, timingSafeEqual } from 'node:crypto'
import { coveredText, type CoveredRow, type SealedTable } from '../storage/schema/covered.ts'
import { deriveKey } from './derived-keys.ts'

/** Tables whose rows have a MAC of their own. */
export type MacTable = Exclude<SealedTable, 'api_keys'>

export type RowMacs = {
  /** HMAC-SHA-256 over the table and the covered columns of a row. */
  macOf<T extends MacTable>(table: T, row: CoveredRow<T>): string
  /** Whether the service wrote this row, and nobody else has changed it since. */
  holds<T extends MacTable>(table: T, row: CoveredRow<T> & { row_mac: string | null }): boolean
  /**
   * What an API key is kept as: an HMAC over the SHA-256 of its secret and the covered columns. The secret of a row that
   * somebody has changed no longer matches.
   */
  keyHash(secretHash: string, row: CoveredRow<'api_keys'>): string
}

/** Equal without telling where they differ. */
export const sameMac = (a: string, b: string): boolean => {
  const [one, other] = [Buffer.from(a), Buffer.from(b)]
  return one.length === other.length && timingSafeEqual(one, other)
}

export const createRowMacs = (masterKey: Buffer): RowMacs => {
  const forRows = deriveKey(masterKey, 'rows')
  const forKeys = deriveKey(masterKey, 'api keys')
  const macOf: RowMacs['macOf'] = (table, row) =>
    createHmac('sha256', forRows).update(coveredText(table, row)).digest('base64url')
  return {
    macOf,
    holds: (table, row) => sameMac(row.row_mac ?? '', macOf(table, row)),
    keyHash: (secretHash, row) =>
      createHmac('sha256', forKeys)
        .update(`${secretHash} ${coveredText('api_keys', row)}`)
        .digest('hex'),
  }
}

import { createHmac } from 'node:crypto'
import { sameSecret } from '../../core/ids.ts'
import type { RowMacs } from '../call/keyring.ts'
import { coveredText } from '../storage/schema/covered.ts'
import { deriveKey } from './derived-keys.ts'

export const createRowMacs = (masterKey: Buffer): RowMacs => {
  const forRows = deriveKey(masterKey, 'rows')
  const forKeys = deriveKey(masterKey, 'api keys')
  const macOf: RowMacs['macOf'] = (table, row) =>
    createHmac('sha256', forRows).update(coveredText(table, row)).digest('base64url')
  return {
    macOf,
    holds: (table, row) => sameSecret(row.row_mac ?? '', macOf(table, row)),
    keyHash: (secretHash, row) =>
      createHmac('sha256', forKeys)
        .update(`${secretHash} ${coveredText('api_keys', row)}`)
        .digest('hex'),
  }
}

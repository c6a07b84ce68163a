import { calculateJwkThumbprint, type JWK } from 'jose'
import { sha256 } from '../../core/ids.ts'
import { auditByService } from '../call/audit.ts'
import type { RowMacs, Wrapping } from '../call/keyring.ts'
import { adoptKeyRows } from '../keys/rows.ts'
import { type CoveredRow, coveredText, type SealedTable } from '../storage/schema/covered.ts'
import type { Storage } from '../storage/storage.ts'
import { insertMarker } from './marker.ts'
import { remac, rewrap } from './rewrap.ts'
import { readSigningKeys } from './signing-keys.ts'
import { createFirstWrapping } from './wrapping.ts'

/** How many rows, and one digest over what is covered of them. */
export type Counted = { count: number; digest: string }

/** What was found in a store when its rows were authenticated, for an operator to compare. */
export type Adopted = {
  /** Thumbprints of the signing keys. */
  signing_keys: string[]
  api_keys: Counted
  devices: Counted
  /** Rows that were left out, with the reason. */
  left_out: string[]
}

export const counted = <T extends SealedTable>(table: T, rows: readonly CoveredRow<T>[]): Counted => ({
  count: rows.length,
  digest: sha256(rows.map((row) => coveredText(table, row)).join('\n')).slice(0, 16),
})

type SigningKeyRow = Awaited<ReturnType<typeof readSigningKeys>>[number]

/** A signing key proves itself: only who has the master key could wrap the private half of its public key. */
const isProved = async (
  { kid, public_jwk, wrapped_jwk }: SigningKeyRow,
  { unwrap }: Pick<Wrapping, 'unwrap'>,
): Promise<boolean> => {
  try {
    const privateJwk = JSON.parse(unwrap(wrapped_jwk, `signing_keys:${kid}`)) as JWK
    const shown = JSON.parse(public_jwk) as JWK & { kid?: string }
    return shown.kid === kid && shown.x === privateJwk.x && (await calculateJwkThumbprint(privateJwk)) === kid
  } catch {
    return false
  }
}

/**
 * Authenticates what an older svc wrote, once, in one transaction: wraps every value anew under a derived key and gives
 * each row its MAC. Afterwards nothing in the store opens this way again: a second adoption requires a value that only the
 * master key, or an older copy of the store, can provide.
 */
export const adopt = async (
  storage: Storage,
  masterKey: Buffer,
  keys: Wrapping & RowMacs,
): Promise<Adopted> => {
  const first = createFirstWrapping(masterKey)
  const before = await storage.read(readSigningKeys)
  const proofs = await Promise.all(before.map((row) => isProved(row, first)))
  const proved = new Set(before.filter((_, i) => proofs[i]).map(({ kid }) => kid))
  return storage.write(
    async (db) => {
      const at = storage.now()
      const { unreadable } = await rewrap(db, first, keys)
      await remac(db, keys, (_, row) => !('kid' in row) || proved.has(String(row.kid)))
      const apiKeys = await adoptKeyRows({ db, keyring: keys })
      const devices = await db.selectFrom('devices').selectAll().orderBy('id').execute()
      await insertMarker(db, keys, at)
      const adopted: Adopted = {
        signing_keys: [...proved].sort(),
        api_keys: counted('api_keys', apiKeys),
        devices: counted('devices', devices),
        left_out: unreadable,
      }
      await auditByService(db, at, {
        orgId: 0,
        action: 'authenticateStore',
        subject: 'custody',
        changes: [
          ...adopted.signing_keys.map((kid) => `signing_key:${kid}`),
          `api_keys:${adopted.api_keys.count}:${adopted.api_keys.digest}`,
          `devices:${adopted.devices.count}:${adopted.devices.digest}`,
        ],
      })
      return adopted
    },
    { org: 0 },
  )
}

/** What the first start after the upgrade prints. */
export const announceAdoption = ({ signing_keys, api_keys, devices, left_out }: Adopted): string[] => [
  `Authenticated the existing rows of the store under the master key, once. Signing keys: ${signing_keys.join(', ')}. API keys: ${api_keys.count} (digest ${api_keys.digest}). Devices: ${devices.count} (digest ${devices.digest})`,
  ...(left_out.length > 0
    ? [`These rows could not be authenticated and are not used: ${left_out.join(', ')}`]
    : []),
]

import { calculateJwkThumbprint, type JWK } from 'jose'
import { sha256 } from '../../core/ids.ts'
import { auditByService } from '../call/audit.ts'
import { adoptKeyRows } from '../keys/rows.ts'
import { type CoveredRow, coveredText, type SealedTable } from '../storage/schema/covered.ts'
import type { Storage } from '../storage/storage.ts'
import { insertMarker } from './master-key.ts'
import { remac, rewrap } from './rewrap.ts'
import { readSigningKeys } from './signing-keys.ts'
import { createFirstWrapping, type MasterKeys } from './wrapping.ts'

const summarize = <T extends SealedTable>(table: T, rows: readonly CoveredRow<T>[]) => ({
  count: rows.length,
  digest: sha256(rows.map((row) => coveredText(table, row)).join('\n')).slice(0, 16),
})

type SigningKeyRow = Awaited<ReturnType<typeof readSigningKeys>>[number]

/** A signing key proves itself: only the master key can have wrapped the private half of its public key. */
const isAuthentic = async (
  { kid, public_jwk, wrapped_jwk }: SigningKeyRow,
  { unwrap }: Pick<MasterKeys, 'unwrap'>,
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
 * Authenticates the rows of an older svc, once, in one transaction: wraps every value again under a derived key and gives
 * each row its MAC. A second adoption is impossible without a value that only the master key, or an older copy of the
 * store, can provide. Returns lines for the operator, who can compare what was found.
 */
export const adopt = async (storage: Storage, masterKey: Buffer, keys: MasterKeys): Promise<string[]> => {
  const first = createFirstWrapping(masterKey)
  const before = await storage.read(readSigningKeys)
  const proofs = await Promise.all(before.map((row) => isAuthentic(row, first)))
  const kids = before.flatMap(({ kid }, i) => (proofs[i] ? [kid] : [])).sort()
  return storage.write(
    async (db) => {
      const at = storage.now()
      const { unreadable } = await rewrap(db, first, keys)
      await remac(db, keys, (_, row) => !('kid' in row) || kids.includes(String(row.kid)))
      const apiKeys = summarize('api_keys', await adoptKeyRows({ db, keyring: keys }))
      const devices = summarize('devices', await db.selectFrom('devices').selectAll().orderBy('id').execute())
      await insertMarker(db, keys, at)
      await auditByService(db, at, {
        orgId: 0,
        action: 'authenticateStore',
        subject: 'custody',
        changes: [
          ...kids.map((kid) => `signing_key:${kid}`),
          `api_keys:${apiKeys.count}:${apiKeys.digest}`,
          `devices:${devices.count}:${devices.digest}`,
        ],
      })
      return [
        `Authenticated the existing rows of the store under the master key, once. Signing keys: ${kids.join(', ')}. API keys: ${apiKeys.count} (digest ${apiKeys.digest}). Devices: ${devices.count} (digest ${devices.digest})`,
        ...(unreadable.length > 0
          ? [`These rows could not be authenticated and are not used: ${unreadable.join(', ')}`]
          : []),
      ]
    },
    { org: 0 },
  )
}

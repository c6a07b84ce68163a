import { calculateJwkThumbprint, type JWK } from 'jose'
import { appendAudit } from '../audit.ts'
import type { Storage } from '../storage/storage.ts'
import { insertMarker } from './marker.ts'
import { rewrap } from './rewrap.ts'
import type { RowMacs } from './row-mac.ts'
import { readSigningKeys } from './signing-keys.ts'
import { createFirstWrapping, type Wrapping } from './wrapping.ts'

/** What was found in a store when its rows were authenticated, for an operator to compare. */
export type Adopted = {
  /** Thumbprints of the signing keys. */
  signing_keys: string[]
  /** Rows that were left out, with the reason. */
  left_out: string[]
}

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
  { wrap, unwrap, macOf }: Wrapping & RowMacs,
): Promise<Adopted> => {
  const first = createFirstWrapping(masterKey)
  const before = await storage.read(readSigningKeys)
  const proofs = await Promise.all(before.map((row) => isProved(row, first)))
  const proved = new Set(before.filter((_, i) => proofs[i]).map(({ kid }) => kid))
  return storage.write(async (db) => {
    const at = storage.now()
    const { unreadable } = await rewrap(db, first, { wrap })
    for (const row of await readSigningKeys(db)) {
      if (!proved.has(row.kid)) continue
      const row_mac = macOf('signing_keys', row)
      await db.updateTable('signing_keys').set({ row_mac }).where('kid', '=', row.kid).execute()
    }
    await insertMarker(db, { wrap, unwrap }, at)
    const adopted: Adopted = {
      signing_keys: [...proved].sort(),
      left_out: unreadable,
    }
    await appendAudit(db, {
      orgId: 0,
      at,
      actor: 'service',
      action: 'authenticateStore',
      subject: 'custody',
      changes: adopted.signing_keys.map((kid) => `signing_key:${kid}`),
      requestId: '-',
    })
    return adopted
  })
}

/** What the first start after the upgrade prints. */
export const announceAdoption = ({ signing_keys, left_out }: Adopted): string[] => [
  `Authenticated the existing rows of the store under the master key, once. Signing keys: ${signing_keys.join(', ')}`,
  ...(left_out.length > 0
    ? [`These rows could not be authenticated and are not used: ${left_out.join(', ')}`]
    : []),
]

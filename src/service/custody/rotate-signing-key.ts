import { SvcError } from '../../core/errors.ts'
import { auditByService } from '../call/audit.ts'
import type { Keyring } from '../call/keyring.ts'
import type { Storage } from '../storage/storage.ts'
import { insertSigningKey, makeSigningKey, readSigningKeys } from './signing-keys.ts'

export type RotatedSigningKey = {
  /** The key that signs now. */
  kid: string
  /** The keys that only verify now. */
  retired: string[]
  /** False where `from` had been replaced before: nothing was changed. */
  rotated: boolean
}

const unknownKid = (from: string): SvcError =>
  new SvcError('notFound', 'no_signing_key', `The store has no authentic signing key ${from}`, {
    hint: 'The kid of the key that signs is in the header of a new receipt, and in /.well-known/jwks.json',
  })

/**
 * Retires the key that signs and makes another, in one transaction. A running service signs with it from its next signature
 * on, and publishes both. With `from`, only where that one signs: so a command that is typed again rotates once.
 */
export const rotateSigningKey = async (
  { storage, keyring }: { storage: Storage; keyring: Keyring },
  from?: string,
): Promise<RotatedSigningKey> => {
  const made = await makeSigningKey()
  return storage.write(async (db) => {
    const now = storage.now()
    const authentic = (await readSigningKeys(db)).filter((row) => keyring.holds('signing_keys', row))
    const active = authentic.filter(({ retired_at }) => retired_at === null)
    if (from !== undefined && !active.some(({ kid }) => kid === from)) {
      if (!authentic.some(({ kid }) => kid === from)) throw unknownKid(from)
      return { kid: active[0]!.kid, retired: [], rotated: false }
    }
    for (const row of active) {
      const row_mac = keyring.macOf('signing_keys', { ...row, retired_at: now })
      await db
        .updateTable('signing_keys')
        .set({ retired_at: now, row_mac })
        .where('kid', '=', row.kid)
        .execute()
    }
    await insertSigningKey(db, keyring, made, now)
    const retired = active.map(({ kid }) => kid)
    await auditByService(db, now, {
      orgId: 0,
      action: 'rotateSigningKey',
      subject: `signing_key:${made.kid}`,
      changes: retired.map((kid) => `retired:${kid}`),
    })
    return { kid: made.kid, retired, rotated: true }
  })
}

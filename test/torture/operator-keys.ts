import { newSecret } from '../../src/service/keys/authenticator.ts'
import { insertKeyRow } from '../../src/service/keys/rows.ts'
import { everyScope } from '../../src/service/keys/scopes.ts'
import { openPlace } from '../../src/service/lifecycle/place.ts'
import type { Cluster } from './cluster.ts'

type OperatorKey = { id: number; key: string }

/** Adds two operator keys that no other key created, so that each can revoke the other. No operation of the service does. */
export const addOperatorKeys = async (
  { databaseUrl, masterKey }: Pick<Cluster, 'databaseUrl' | 'masterKey'>,
  names: readonly [string, string],
): Promise<[OperatorKey, OperatorKey]> => {
  const closing: (() => void | Promise<void>)[] = []
  const place = { databaseUrl, connections: 2, allowDataLoss: true }
  try {
    const { storage, keyring } = await openPlace(
      place,
      { SVC_MASTER_KEY: masterKey },
      () => undefined,
      closing,
    )
    const add = (name: string) =>
      storage.write(
        async (db) => {
          const secret = newSecret('operator')
          const values = { name, scopes: everyScope, created_by: null, org_id: null }
          const { id } = await insertKeyRow({ db, keyring }, secret, { ...values, created_at: storage.now() })
          return { id, key: secret.key }
        },
        { org: 0 },
      )
    return [await add(names[0]), await add(names[1])]
  } finally {
    for (const close of closing) await close()
  }
}

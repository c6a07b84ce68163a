import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createKeyring } from '../../../src/service/custody/create-keyring.ts'
import type { Keyring } from '../../../src/service/call/keyring.ts'
import { rotateSigningKey } from '../../../src/service/custody/signing-keys.ts'
import { ensureOperatorKey } from '../../../src/service/lifecycle/operator-keys.ts'
import { createVapid } from '../../../src/service/page/push/vapid.ts'
import { openPostgres } from '../../../src/service/storage/postgres/open.ts'
import { copyDatabase, databaseUrl, dropDatabase, onPostgres } from '../storage/postgres-databases.ts'

const countRows = (storage: Awaited<ReturnType<typeof openPostgres>>) =>
  storage.read(async (db) => ({
    keys: (await db.selectFrom('api_keys').select('id').execute()).length,
    signing: (await db.selectFrom('signing_keys').select('kid').execute()).length,
    settings: (await db.selectFrom('settings').select('name').orderBy('name').execute()).map(
      ({ name }) => name,
    ),
  }))

/** Starts four nodes on an empty database at the same time, and ends with them. */
const withNodes = async (
  work: (nodes: { storage: Awaited<ReturnType<typeof openPostgres>>; masterKey: Buffer }[]) => Promise<void>,
): Promise<void> => {
  const name = await copyDatabase('template0')
  const masterKey = randomBytes(32)
  const stores = await Promise.all(
    Array.from({ length: 4 }, () => openPostgres({ url: databaseUrl(name), connections: 4 })),
  )
  try {
    await work(stores.map((storage) => ({ storage, masterKey })))
  } finally {
    await Promise.all(stores.map((storage) => storage.close()))
    await dropDatabase(name)
  }
}

describe.runIf(onPostgres())('four nodes that start on an empty database at the same time', () => {
  test.each([undefined, 'x'.repeat(40)])('create each key once, with the preset key %s', async (preset) => {
    for (let n = 0; n < 3; n++)
      await withNodes(async (nodes) => {
        const started = await Promise.all(
          nodes.map(async ({ storage, masterKey }) => {
            const keyring = await createKeyring(storage, masterKey)
            const { key } = await createVapid(storage, keyring)
            return { key, operatorKey: await ensureOperatorKey({ storage, keyring }, preset) }
          }),
        )
        expect(new Set(started.map(({ key }) => key)).size).toBe(1)
        expect(started.filter(({ operatorKey }) => operatorKey !== undefined)).toHaveLength(
          preset === undefined ? 1 : 0,
        )
        expect(await countRows(nodes[0]!.storage)).toEqual({
          keys: 1,
          signing: 1,
          settings: ['custody', 'vapid'],
        })
      })
  })

  test('know a store that another node has initialized since they looked', async () => {
    await withNodes(async (nodes) => {
      const [{ storage, masterKey }, other] = nodes as [(typeof nodes)[0], (typeof nodes)[0]]
      let looked = false
      const read: typeof storage.read = async (work) => {
        const result = await storage.read(work)
        if (!looked) {
          looked = true
          await createKeyring(other.storage, masterKey)
        }
        return result
      }
      await createKeyring({ ...storage, read }, masterKey)
      expect((await countRows(storage)).signing).toBe(1)
    })
  })

  test('sign with a new signing key as soon as one of them has rotated it', async () => {
    await withNodes(async (nodes) => {
      const keyrings: Keyring[] = []
      for (const { storage, masterKey } of nodes) keyrings.push(await createKeyring(storage, masterKey))
      const sign = (n: number) => keyrings[n]!.sign({}, 'JWT')
      await Promise.all(keyrings.map((_, n) => sign(n)))
      const rotated = await Promise.all(
        keyrings.map((keyring, n) => rotateSigningKey({ storage: nodes[n]!.storage, keyring })),
      )
      const active = rotated.map(({ kid }) => kid)
      for (const [n] of keyrings.entries()) {
        const { kid } = JSON.parse(Buffer.from((await sign(n)).split('.')[0]!, 'base64url').toString())
        expect(active).toContain(kid)
        const { keys } = await keyrings[n]!.jwks()
        expect(keys).toHaveLength(5)
      }
      const unretired = await nodes[0]!.storage.read((db) =>
        db.selectFrom('signing_keys').where('retired_at', 'is', null).select('kid').execute(),
      )
      expect(unretired).toHaveLength(1)
    })
  })
})

import type { Db } from '../storage/schema.ts'

// A key is named by the first of its secrets, whatever rotations come: its root. `created_by` is the root of the key that
// created it.

/** The root of the key that a secret belongs to; undefined for no secret of the store. */
export const rootOf = async (db: Db, id: number): Promise<number | undefined> => {
  const row = await db
    .selectFrom('api_keys')
    .where('id', '=', id)
    .select(['id', 'lineage'])
    .executeTakeFirst()
  return row && (row.lineage ?? row.id)
}

/** The roots of the keys above one, the nearest first. */
export const ancestorsOf = async (db: Db, root: number): Promise<number[]> => {
  const found: number[] = []
  for (let id: number | null = root; id !== null;) {
    const row: { created_by: number | null } | undefined = await db
      .selectFrom('api_keys')
      .where('id', '=', id)
      .select('created_by')
      .executeTakeFirst()
    id = row?.created_by ?? null
    if (id === null || found.includes(id)) return found
    found.push(id)
  }
  return found
}

/** The rows of the keys that a key created, and of those that they created, with all their secrets. */
export const descendantsOf = async (db: Db, root: number): Promise<number[]> => {
  const found = new Set<number>()
  for (let creators = [root]; creators.length > 0;) {
    const rows = await db
      .selectFrom('api_keys')
      .where('created_by', 'in', creators)
      .select(['id', 'lineage'])
      .orderBy('id')
      .execute()
    const fresh = rows.filter(({ id }) => !found.has(id))
    for (const { id } of fresh) found.add(id)
    creators = fresh.filter(({ lineage }) => lineage === null).map(({ id }) => id)
  }
  return [...found]
}

/**
 * What is revoked with a key: the keys that it created, and those that they created, as what a leaked key made must not
 * outlive it. A secret that a rotation replaced ends alone: its key lives on in the new one.
 */
export const keysBelow = async (db: Db, id: number): Promise<number[]> => {
  const row = await db
    .selectFrom('api_keys')
    .where('id', '=', id)
    .select(['lineage', 'replaced'])
    .executeTakeFirst()
  return row?.replaced === 0 ? descendantsOf(db, row.lineage ?? id) : []
}

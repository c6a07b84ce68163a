import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'

type Db = Kysely<Tables>

/**
 * Maps each secret that a rotation created to the first secret of its key. Only a rotation sets `expires_at`, and a name
 * is unique among secrets without it. The next row of the same name and organization is therefore the rotated secret.
 */
const traceRotations = async (db: Db): Promise<Map<number, number>> => {
  const rows = await db
    .selectFrom('api_keys')
    .select(['id', 'name', 'org_id', 'expires_at'])
    .orderBy('id')
    .execute()
  const before = new Map<string, (typeof rows)[number]>()
  const first = new Map<number, number>()
  for (const row of rows) {
    const named = JSON.stringify([row.org_id, row.name])
    const old = before.get(named)
    if (old && old.expires_at !== null) first.set(row.id, first.get(old.id) ?? old.id)
    before.set(named, row)
  }
  return first
}

/** Moves the mutes of one key to another; the longer of two mutes stays. */
const moveMutes = async (db: Db, from: number, to: number): Promise<void> => {
  const mutes = await db.selectFrom('mutes').where('key_id', '=', from).selectAll().execute()
  await db.deleteFrom('mutes').where('key_id', '=', from).execute()
  for (const { org_id, user_id, until } of mutes)
    await db
      .insertInto('mutes')
      .values({ org_id, user_id, key_id: to, until })
      .onConflict((of) =>
        of.columns(['org_id', 'user_id', 'key_id']).doUpdateSet({ until }).where('mutes.until', '<', until),
      )
      .execute()
}

export const up = async (db: Db): Promise<void> => {
  await db.schema.alterTable('api_keys').addColumn('lineage', 'integer').execute()
  await db.schema.alterTable('approvals').addColumn('asked_by', 'integer').execute()
  await db
    .updateTable('approvals')
    .set(({ ref }) => ({ asked_by: ref('key_id') }))
    .execute()
  for (const [id, lineage] of await traceRotations(db)) {
    await db.updateTable('api_keys').set({ lineage }).where('id', '=', id).execute()
    await db.updateTable('approvals').set({ asked_by: lineage }).where('key_id', '=', id).execute()
    await moveMutes(db, id, lineage)
  }
}

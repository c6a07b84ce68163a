import { sql } from 'kysely'
import { type Db, tableNames, tables } from './schema.ts'
import { isShared } from './transaction.ts'

/** More than a store gives between a backup and its restore. */
const skipped = 1_000_000

/**
 * Leaves out ids that a store may have given since a backup: receipts, groups and rules name people, keys and organizations by
 * them, and no id is given again.
 */
export const skipIds = async (db: Db): Promise<void> => {
  for (const name of tableNames.filter((one) => tables[one].isNumbered))
    if (isShared(db)) {
      const sequence = sql`pg_get_serial_sequence(${name}, 'id')::regclass`
      await sql`select setval(${sequence}, nextval(${sequence}) + ${sql.lit(skipped)})`.execute(db)
    } else {
      await sql`insert into sqlite_sequence (name, seq) select ${name}, 0
        where not exists (select 1 from sqlite_sequence where name = ${name})`.execute(db)
      await sql`update sqlite_sequence set seq = seq + ${sql.lit(skipped)} where name = ${name}`.execute(db)
    }
}

import { onTestFinished } from 'vitest'
import { runStatements } from '../../src/service/storage/migrations/run-statements.ts'
import { migrations } from '../../src/service/storage/migrations.ts'

/** Adds a migration until the end of the test: what was written before is then a store of an older svc. */
export const addMigration = (): void => {
  migrations.push({
    up: (db) => runStatements(db, 'create table later (id integer)'),
  })
  onTestFinished(() => void migrations.pop())
}

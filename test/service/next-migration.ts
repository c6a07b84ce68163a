import { onTestFinished } from 'vitest'
import { laterMigrations } from '../../src/service/storage/migrations.ts'

/** Adds a migration until the end of the test: what was written before is then a store of an older svc. */
export const addMigration = (): void => {
  laterMigrations.push(['create table later (id integer)'])
  onTestFinished(() => void laterMigrations.pop())
}

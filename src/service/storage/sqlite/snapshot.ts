import { closeSync, fsyncSync, openSync } from 'node:fs'
import type Libsql from 'libsql'
import { useFile } from './connection.ts'

/** As `useFile`; afterwards, the file is on the disk. */
const withDatabase = <T>(file: string, work: (database: Libsql.Database) => T): T => {
  const result = useFile(file, work)
  const descriptor = openSync(file, 'r+')
  fsyncSync(descriptor)
  closeSync(descriptor)
  return result
}

const settingOf = (database: Libsql.Database, name: string): string | undefined =>
  (database.prepare('SELECT value FROM settings WHERE name = ?').all([name]) as { value: string }[])[0]?.value

/**
 * Writes a consistent copy of the store, with its master key in a separate table, to a new file with mode 0600. `keyFor`
 * finds the key of exactly that copy by the marker that the key opens.
 */
export const writeSnapshot = (
  store: string,
  file: string,
  keyFor: (marker: string | undefined) => string | undefined,
): void => {
  closeSync(openSync(file, 'wx', 0o600))
  withDatabase(store, (database) => {
    database.exec('PRAGMA busy_timeout = 5000')
    database.prepare('VACUUM INTO ?').run([file])
  })
  withDatabase(file, (database) => {
    const masterKey = keyFor(settingOf(database, 'custody'))
    database.exec('CREATE TABLE backup_master_key (value TEXT NOT NULL)')
    if (masterKey !== undefined) database.prepare('INSERT INTO backup_master_key VALUES (?)').run([masterKey])
  })
}

/** Checks a snapshot and turns it into a store; returns the master key that was in it. */
export const openSnapshot = (file: string): string | undefined =>
  withDatabase(file, (database) => {
    const [check] = database.prepare('PRAGMA integrity_check').all([]) as { integrity_check: string }[]
    if (check?.integrity_check !== 'ok') throw new Error(`integrity check: ${check?.integrity_check}`)
    const [key] = database.prepare('SELECT value FROM backup_master_key').all([]) as { value: string }[]
    // The key must not stay in the store that it wraps, not even in a free page.
    database.exec('PRAGMA secure_delete = ON')
    database.exec('DROP TABLE backup_master_key')
    return key?.value
  })

import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely, SqliteDialect } from 'kysely'
import { newSecret } from '../../src/service/keys.ts'
import { openConnection } from '../../src/service/storage/connection.ts'
import { migrations } from '../../src/service/storage/migrations.ts'
import type { Tables } from '../../src/service/storage/schema.ts'

/** A data folder as an older svc left it, after `version` migrations: an organization, an operator key, a master key. */
export const createOlderStore = async (dataDir: string, version: number) => {
  mkdirSync(dataDir, { mode: 0o700 })
  const masterKey = `${randomBytes(32).toString('base64')}\n`
  writeFileSync(join(dataDir, 'master.key'), masterKey, { mode: 0o600 })
  const connection = openConnection(join(dataDir, 'svc.db'))
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: connection }) })
  for (const { up } of migrations.slice(0, version)) await up(db)
  const { key, prefix, hash } = newSecret('operator')
  const at = '2030-01-01T00:00:00.000Z'
  connection.exec(`PRAGMA user_version = ${version}`)
  connection.exec(
    `INSERT INTO api_keys (name, prefix, hash, created_at) VALUES ('operator', '${prefix}', '${hash}', '${at}')`,
  )
  connection.exec(
    `INSERT INTO organizations (name, slug, policy, created_at, updated_at) VALUES ('Acme', 'acme', '{}', '${at}', '${at}')`,
  )
  connection.close()
  return { key, masterKey }
}

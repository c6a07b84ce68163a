import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely, SqliteDialect } from 'kysely'
import { sha256 } from '../../src/core/ids.ts'
import { newSecret } from '../../src/service/keys/authenticator.ts'
import { openConnection } from '../../src/service/storage/sqlite/connection.ts'
import { migrations } from '../../src/service/storage/migrations.ts'
import type { Tables } from '../../src/service/storage/schema.ts'

/** What svc wrote before it derived keys from the master key: recorded from a store of schema 13. */
export const recorded = {
  masterKey: 'dvez2HM5PDQQq12iRkp5iJ6ixivmLzu3BGOXVxkDp0g=\n',
  kid: 'J7pCvkuaJh-y-OROkwjmbBrnUlEu6EtbXFRwWoDmpkw',
  public_jwk:
    '{"crv":"Ed25519","x":"9gtU6wryUTXdQAcP7vn7jHDTk3tfkS0MAzhj1fP8Yjc","kty":"OKP","kid":"J7pCvkuaJh-y-OROkwjmbBrnUlEu6EtbXFRwWoDmpkw","alg":"EdDSA","use":"sig"}',
  wrapped_jwk:
    'v1.rfdCE7L6mkbGrvQ5.MiwD7meZ_kXwGOof0TIEZg.iEEhRaFyWAftGGi1EGnk8nPXTH_F4ZCmcJNaDZ8iDKoRAekdhycm4d0mMrvF4QzfNR5AAoVOObX2lzZ7Ndx-rQrr-pj2l8zsjYLKD9Z9cgnejxQPvataqeAUCGrbREU5yNyHowv1kUBMKLGrnNcD2zXkF4c7q38vY_7D6sKEf-1u',
  vapid:
    'v1.Dpt7JLTrwrdPBinJ.QhisyQXGKdbzmGwwXBcuVw.G7YmZARbx0s_EqQuuy2pxHMzHfgZOYsRJ9PY0KOYV1E7ooGrp6pO-2DHo7Qw5qAFLIF0IzkJU8aXqpniE9Iq7RJhT8r62mX0JqMS4MYJU8Hf_zzsowjEbmpYZfLTfYXy8U7YB8cNkqm2acROUZZusjCq5_CUU3lBjrXAO8vd-wDnSzk6n44trPMo6L-KVYiphZ2xrKdcI-Zp8cOzckCwyRLihIWDmIqGdG6D92YSK-U',
}

/** A data folder as an older svc left it, after `version` migrations: an organization, its keys, a master key. */
export const createOlderStore = async (dataDir: string, version: number) => {
  mkdirSync(dataDir, { mode: 0o700 })
  const { masterKey, kid, public_jwk, wrapped_jwk, vapid } = recorded
  writeFileSync(join(dataDir, 'master.key'), masterKey, { mode: 0o600 })
  const connection = openConnection(join(dataDir, 'svc.db'))
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: connection }) })
  for (const { up } of migrations.slice(0, version)) await up(db)
  const { key, prefix } = newSecret('operator')
  const at = '2030-01-01T00:00:00.000Z'
  connection.exec(`PRAGMA user_version = ${version}`)
  connection.exec(
    `INSERT INTO api_keys (name, prefix, hash, created_at) VALUES ('operator', '${prefix}', '${sha256(key)}', '${at}')`,
  )
  connection.exec(
    `INSERT INTO organizations (name, slug, policy, created_at, updated_at) VALUES ('Acme', 'acme', '{}', '${at}', '${at}')`,
  )
  connection.exec(
    `INSERT INTO signing_keys (kid, public_jwk, wrapped_jwk, created_at) VALUES ('${kid}', '${public_jwk}', '${wrapped_jwk}', '${at}')`,
  )
  connection.exec(`INSERT INTO settings (name, value) VALUES ('vapid', '${vapid}')`)
  connection.close()
  return { key, masterKey }
}

import { expect, test } from 'vitest'
import { migrations } from '../../../../src/service/storage/migrations.ts'
import { openOldStore } from './old-store.ts'

const at = '2030-01-01T00:00:00.000Z'

const isNew = ({ name }: { name: string }): boolean => name >= '0019'

test('keeps the answers and approvals that are there; limits go with their organization', async () => {
  const { connection, db } = openOldStore()
  for (const { up } of migrations.filter((one) => !isNew(one))) await up(db)
  connection.exec(
    `INSERT INTO organizations (id, name, slug, policy, created_at, updated_at) VALUES (3, 'Acme', 'acme', '{}', '${at}', '${at}')`,
  )
  connection.exec(
    `INSERT INTO idempotency (key_id, idempotency_key, fingerprint, answer, created_at) VALUES (7, 'k', 'f', '{}', '${at}')`,
  )
  for (const { up } of migrations.filter(isNew)) await up(db)
  expect(await db.selectFrom('idempotency').selectAll().execute()).toMatchObject([
    { key_id: 7, answer: '{}', org_id: null, bytes: 0 },
  ])
  await db.insertInto('organization_limits').values({ org_id: 3, name: 'users', value: '5' }).execute()
  await db.deleteFrom('organizations').execute()
  expect(await db.selectFrom('organization_limits').selectAll().execute()).toEqual([])
})

import { expect, test } from 'vitest'
import { acme, service } from '../acme-with-ada.ts'
import { refusal } from '../fixtures.ts'
import { onPostgres } from '../storage/postgres-databases.ts'
import { approved, create, installHooks, user } from './batch-stage.ts'

// In a file of its own, because the prepared statements of its service do not survive it.

installHooks()

test.runIf(onPostgres())('permits no row that another program made equal to the right one', async () => {
  const id = await approved([user(1), user(2)])
  const lax = ['row_mac', 'digest'].map((column) => `ALTER ${column} TYPE lax`).join(', ')
  for (const change of [
    'CREATE DOMAIN lax AS text COLLATE "C"',
    "CREATE FUNCTION lax_eq(lax, lax) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true'",
    'CREATE OPERATOR = (LEFTARG = lax, RIGHTARG = lax, FUNCTION = lax_eq)',
    `ALTER TABLE batch_rows ${lax}`,
    `INSERT INTO batch_rows (request_id, org_id, row_index, data, digest, row_mac) VALUES ('${id}', ${acme.id}, 9, '{}', 'x', 'x')`,
  ])
    await service.runSql(change)
  try {
    expect(refusal(await create(user(7), `${id}:9`))).toEqual([409, 'store_changed', []])
  } finally {
    await service.runSql(`ALTER TABLE batch_rows ${lax.replaceAll('lax', 'text COLLATE "C"')}`)
    await service.runSql('DROP DOMAIN lax CASCADE')
  }
})

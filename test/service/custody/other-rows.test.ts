import { expect, test } from 'vitest'
import { authenticKey } from '../../../src/service/keys/ancestry.ts'
import { isAuthenticKey } from '../../../src/service/keys/rows.ts'
import { acme, installHooks, service } from '../acme.ts'
import { dataOf } from '../fixtures.ts'
import { onPostgres } from '../storage/postgres-databases.ts'

// Whoever owns the tables can put a view in the place of one, which says one thing in the WHERE and another in the answer.

installHooks()

/** What a view shows for `value` in one evaluation of a statement, and `lie` in the other. */
const twoFaced = async (value: string, lie: string): Promise<string> => {
  if (!onPostgres()) return `CASE WHEN random() % 2 = 0 THEN ${lie} ELSE ${value} END`
  await service.runSql(`CREATE OR REPLACE FUNCTION two_faced(v bigint, lie bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
    BEGIN
      PERFORM set_config('svc.face', CASE current_setting('svc.face', true) WHEN '1' THEN '0' ELSE '1' END, false);
      RETURN CASE current_setting('svc.face') WHEN '1' THEN lie ELSE v END;
    END $$`)
  return `two_faced(${value}, ${lie})`
}

test('a key is not found under the id of another', async () => {
  const body = { name: 'helper', org_id: acme.id, scopes: ['ask'] }
  const own = Number(dataOf(await service.call('POST', '/svc/v1/keys', { key: acme.key, body })).id)
  const find = () =>
    service.storage
      .read((db) => authenticKey({ db, keyring: service.keyring, orgId: acme.id }, own))
      .catch(String)
  expect(await find()).toMatchObject({ id: own, name: 'helper' })
  const columns = (await service.runSql('SELECT * FROM api_keys LIMIT 1'))[0] as object
  const shown = Object.keys(columns).filter((name) => name !== 'id')
  const id = await twoFaced('id', String(own))
  await service.runSql('ALTER TABLE api_keys RENAME TO kept_keys')
  await service.runSql(
    `CREATE VIEW api_keys AS SELECT ${id} AS id, ${shown.join(', ')} FROM kept_keys WHERE id <> ${own}`,
  )
  try {
    const found = new Set<string>()
    // SQLite lies at random, in a quarter of the answers.
    for (let tries = 0; tries < 200; tries += 1) found.add(String(await find()))
    const refusals = [...found].filter((text) => text !== 'undefined')
    expect(refusals).not.toEqual([])
    for (const text of refusals) expect(text).toMatch(/a row that was not asked for|two rows of one id/)
  } finally {
    await service.runSql('DROP VIEW api_keys')
    await service.runSql('ALTER TABLE kept_keys RENAME TO api_keys')
  }
})

test('a column that is gone is not one that is null', async () => {
  const [row] = await service.storage.read((db) =>
    db.selectFrom('api_keys').where('id', '=', Number(acme.keyId)).selectAll().execute(),
  )
  const { owner_confirmed_at, ...rest } = row!
  expect(owner_confirmed_at).toBeNull()
  expect(isAuthenticKey(service.keyring, row!)).toBe(true)
  expect(isAuthenticKey(service.keyring, rest as typeof row & object)).toBe(false)
})

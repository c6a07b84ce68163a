import { describe, expect, test } from 'vitest'
import { createIssuer } from '../../../receipt/specimen.ts'
import { dataDir, installHooks, start } from '../../started.ts'
import { changeStore } from './store-changes.ts'

installHooks()

const change = (sql: string, ...values: unknown[]) => changeStore(dataDir, sql, values)
const run = async (): Promise<void> => (await start()).stop()

describe('a store whose marker another program has changed is refused', () => {
  const attempts: [string, string[]][] = [
    ['removes the marker', ["DELETE FROM settings WHERE name = 'custody'"]],
    ['changes the marker', ["UPDATE settings SET value = 'v2.a.b.c' WHERE name = 'custody'"]],
    [
      'removes the marker and every signing key',
      ["DELETE FROM settings WHERE name = 'custody'", 'DELETE FROM signing_keys'],
    ],
  ]

  test.each(attempts)('if it %s', async (_, statements) => {
    await run()
    for (const sql of statements) change(sql)
    const { kid, publicJwk } = await createIssuer()
    change(
      "INSERT INTO signing_keys (kid, public_jwk, wrapped_jwk, created_at) VALUES (?, ?, 'v2.a.b.c', '2999-01-01')",
      kid,
      JSON.stringify(publicJwk),
    )
    await expect(run()).rejects.toMatchObject({
      name: 'SvcError',
      code: expect.stringMatching(/^(?:store_changed|wrong_master_key)$/),
    })
    expect(change("SELECT name FROM settings WHERE name = 'custody' AND value <> 'v2.a.b.c'")).toEqual([])
  })
})

import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createIssuer } from '../../../receipt/specimen.ts'
import { createOlderStore, recorded } from '../../older-store.ts'
import { dataDir, folder, installHooks, start } from '../../started.ts'
import { changeStore } from './store-changes.ts'

installHooks()

const change = (sql: string, ...values: unknown[]) => changeStore(dataDir, sql, values)

/** Starts and stops the service. Returns what it logged and the kids that it published. */
const run = async (): Promise<{ logged: string[]; kids: string[] }> => {
  const logged: string[] = []
  const service = await start({ log: ({ message = '' }) => logged.push(message) })
  const answer = await fetch(`${new URL(service.baseUrl).origin}/.well-known/jwks.json`, {
    headers: { connection: 'close' },
  })
  const { keys } = (await answer.json()) as { keys: { kid: string }[] }
  await service.stop()
  return { logged, kids: keys.map(({ kid }) => kid) }
}

const authenticated = /^Authenticated the existing rows/

const insertForeign = async (): Promise<string> => {
  const { kid, publicJwk } = await createIssuer()
  change(
    'INSERT INTO signing_keys (kid, public_jwk, wrapped_jwk, created_at) VALUES (?, ?, ?, ?)',
    kid,
    JSON.stringify(publicJwk),
    recorded.wrapped_jwk,
    '2999-01-01T00:00:00.000Z',
  )
  return kid
}

describe('the rows of an older store', () => {
  test('are authenticated at the first start, which prints them and adds an audit row', async () => {
    await createOlderStore(dataDir, 13)
    const { logged, kids } = await run()
    expect(kids).toEqual([recorded.kid])
    expect(logged.filter((line) => authenticated.test(line))).toEqual([
      expect.stringContaining(`Signing keys: ${recorded.kid}`),
    ])
    expect(change("SELECT actor, changes FROM audit WHERE action = 'authenticateStore'")).toEqual([
      { actor: 'service', changes: expect.stringContaining(`signing_key:${recorded.kid}`) },
    ])
  })

  test('are authenticated once', async () => {
    await createOlderStore(dataDir, 13)
    await run()
    const foreign = await insertForeign()
    const { logged, kids } = await run()
    expect(logged.filter((line) => authenticated.test(line))).toEqual([])
    expect(kids).toEqual([recorded.kid])
    expect(kids).not.toContain(foreign)
  })

  test('do not include a signing key whose private half the master key did not wrap', async () => {
    await createOlderStore(dataDir, 13)
    const foreign = await insertForeign()
    const { logged, kids } = await run()
    expect(kids).toEqual([recorded.kid])
    expect(logged.join('\n')).toContain(`not used: signing_keys:${foreign}`)
  })

  test('leave no value that would allow another adoption', async () => {
    await createOlderStore(dataDir, 13)
    await run()
    expect(readFileSync(join(dataDir, 'svc.db')).includes('v1.')).toBe(false)
  })
})

describe('a program without the master key cannot have the rows of the store authenticated again', () => {
  const attempts: [string, string[]][] = [
    ['removes the marker', ["DELETE FROM settings WHERE name = 'custody'"]],
    ['changes the marker', ["UPDATE settings SET value = 'v2.a.b.c' WHERE name = 'custody'"]],
    [
      'removes the marker and every signing key',
      ["DELETE FROM settings WHERE name = 'custody'", 'DELETE FROM signing_keys'],
    ],
    [
      'writes values of the old form',
      [
        "DELETE FROM settings WHERE name = 'custody'",
        `UPDATE signing_keys SET wrapped_jwk = '${recorded.wrapped_jwk}'`,
      ],
    ],
  ]

  test.each(attempts)('if it %s', async (_, statements) => {
    // In a store of this version, the master key never wrapped a value of the old form.
    await run()
    for (const sql of statements) change(sql)
    await insertForeign()
    await expect(run()).rejects.toMatchObject({
      name: 'SvcError',
      code: expect.stringMatching(/^(?:store_changed|wrong_master_key)$/),
    })
    expect(change("SELECT seq FROM audit WHERE action = 'authenticateStore'")).toEqual([])
  })

  test.each([
    ['of another service', recorded],
    ['with the signing key of this store', undefined],
  ])('if it replaces the store by one of an older svc, %s', async (_, key) => {
    await run()
    const older = join(folder, 'older')
    await createOlderStore(older, 13)
    const [own] = change('SELECT kid, public_jwk, wrapped_jwk FROM signing_keys') as [typeof recorded]
    const { kid, public_jwk, wrapped_jwk } = key ?? own
    const set = 'UPDATE signing_keys SET kid = ?, public_jwk = ?, wrapped_jwk = ?'
    changeStore(older, set, [kid, public_jwk, wrapped_jwk])
    copyFileSync(join(dataDir, 'master.key'), join(older, 'master.key'))
    await expect(start({ dataDir: older })).rejects.toMatchObject({
      code: key ? 'wrong_master_key' : 'store_changed',
    })
    expect(changeStore(older, "SELECT seq FROM audit WHERE action = 'authenticateStore'")).toEqual([])
  })
})

import { expect, test, vi } from 'vitest'
import { follow } from '../../../src/service/devices/origin.ts'
import { dataOf } from '../fixtures.ts'
import { acme, installHooks, service } from '../mcp/oauth-stage.ts'
import { createAdministrator, createConsented, signIn, whoIs } from '../mcp/terminal-stage.ts'

installHooks()

test('reads once whose device confirmed a key that can do what an administrator can', async () => {
  const grace = await createAdministrator(2)
  const { management_token } = await signIn(grace)
  const key = await createConsented(grace, management_token!, ['keys', 'people'])
  const { id } = dataOf(await whoIs(key))
  const reads: string[] = []
  const origin = await service.storage.read(async (db) => {
    const executor = vi.spyOn(db.getExecutor(), 'executeQuery')
    const found = await follow({ db, keyring: service.keyring, orgId: acme.id }, { key: Number(id) })
    reads.push(...executor.mock.calls.map(([{ sql }]) => sql).filter((sql) => sql.includes('from "devices"')))
    executor.mockRestore()
    return found
  })
  expect(origin.isWhole).toBe(true)
  expect(reads).toHaveLength(1)
})

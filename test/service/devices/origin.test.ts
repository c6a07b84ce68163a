import { expect, test } from 'vitest'
import { follow } from '../../../src/service/devices/origin.ts'
import { dataOf } from '../fixtures.ts'
import { installHooks, service } from '../mcp/oauth-stage.ts'
import { createAdministrator, createConsented, signIn, whoIs } from '../mcp/terminal-stage.ts'

installHooks()

test('reads once whose device confirmed a key that can do what an administrator can', async () => {
  const grace = await createAdministrator(2)
  const { management_token } = await signIn(grace)
  const key = await createConsented(grace, management_token!, ['keys', 'people'])
  const { id } = dataOf(await whoIs(key))
  let reads = 0
  const origin = await service.storage.read((db) => {
    const counting = db.withPlugin({
      transformQuery: ({ node }) => {
        if (/"name":"devices"/.test(JSON.stringify(node))) reads += 1
        return node
      },
      transformResult: async ({ result }) => result,
    })
    return follow({ db: counting, keyring: service.keyring }, { key: Number(id) })
  })
  expect(origin.isWhole).toBe(true)
  expect(reads).toBe(1)
})

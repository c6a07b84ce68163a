import { describe, expect, test } from 'vitest'
import { folderMaintenance } from '../../../../src/service/lifecycle/folder-maintenance.ts'
import type { RunningService } from '../../../../src/service/lifecycle/serve.ts'
import { addMigration } from '../../next-migration.ts'
import { dataDir, get, installHooks, notify, start } from './stopped-service.ts'
import { changeStore } from './store-changes.ts'

installHooks()

const rotate = (from?: string) => folderMaintenance(dataDir, {}, notify).rotateSigningKey(from)

/** The kid of the key that signs. */
const signer = async (service: RunningService): Promise<string> => {
  const [, head] = await get(service, '/svc/v1/audit/head')
  const { jws } = (head as unknown as { data: { jws: string } }).data
  return JSON.parse(Buffer.from(jws.split('.')[0]!, 'base64url').toString()).kid
}

describe('a new signing key', () => {
  test('signs and is published while the service runs, and the old one still verifies', async () => {
    const service = await start()
    const old = await signer(service)
    const { kid, retired } = await rotate()
    expect([retired, await signer(service)]).toEqual([[old], kid])
    const [, { keys }] = await get(service, '/.well-known/jwks.json')
    expect(keys.map((one) => one.kid)).toEqual([kid, old])
  })

  test('is created once if the command names the key that it replaces', async () => {
    const [{ kid: from }] = changeStore(dataDir, 'SELECT kid FROM signing_keys') as [{ kid: string }]
    const { kid } = await rotate(from)
    expect(await rotate(from)).toEqual({
      kid,
      retired: [],
      rotated: false,
    })
    await expect(rotate('nobody')).rejects.toMatchObject({
      code: 'no_signing_key',
    })
    expect(changeStore(dataDir, 'SELECT kid FROM signing_keys')).toHaveLength(2)
  })

  test('replaces one that another program has changed', async () => {
    changeStore(dataDir, "UPDATE signing_keys SET created_at = '2020-01-01T00:00:00.000Z'")
    const { kid } = await rotate()
    const service = await start()
    expect(await signer(service)).toBe(kid)
    expect((await get(service, '/.well-known/jwks.json'))[1].keys).toHaveLength(1)
  })

  test('adds an audit row', async () => {
    const { kid, retired } = await rotate()
    expect(
      changeStore(dataDir, "SELECT subject, changes FROM audit WHERE action = 'rotateSigningKey'"),
    ).toEqual([{ subject: `signing_key:${kid}`, changes: JSON.stringify([`retired:${retired[0]}`]) }])
  })

  test('is not created under a service of another version', async () => {
    await start()
    addMigration()
    await expect(rotate()).rejects.toMatchObject({ code: 'service_older' })
  })
})

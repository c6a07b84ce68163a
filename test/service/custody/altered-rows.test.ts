import { beforeEach, describe, expect, test } from 'vitest'
import type { LogRecord } from '../../../src/core/log.ts'
import { findAlteredRows, watchCustody } from '../../../src/service/custody/altered-rows.ts'
import { acme, installHooks, service } from '../acme.ts'
import { createPhone } from '../page/phone.ts'
import { createTenant, dataOf, refusal } from '../fixtures.ts'

installHooks()

let foreign: { id: number; key: string; keyId: string }
let kid: string
let user: string
let device: number
beforeEach(async () => {
  foreign = await createTenant(service, 'globex')
  user = String((await createPhone(service, acme.id, 1)).user)
  const rows = await service.runSql('SELECT id FROM devices')
  device = rows[0]!.id
  const [key] = await service.runSql('SELECT kid FROM signing_keys')
  kid = key!.kid
})

const altered = async (key?: string, org?: number) =>
  service.call('GET', `/svc/v1/audit/altered${org === undefined ? '' : `?org_id=${org}`}`, { key })

const alter = async (): Promise<void> => {
  await service.runSql("UPDATE signing_keys SET retired_at = '2020'")
  await service.runSql('UPDATE devices SET enrolled_by = enrolled_by + 1')
  await service.runSql("UPDATE api_keys SET scopes = 'keys' WHERE id = ?", [foreign.keyId])
  await service.runSql("UPDATE people SET mobile = '+12025550999'")
}

describe('rows that another program has changed', () => {
  test('include who appointed an administrator', async () => {
    const { user: admin } = await createPhone(service, acme.id, 2, { role: 'admin' })
    expect(dataOf(await altered())).toEqual([])
    await service.runSql('UPDATE appointments SET by_key = by_key + 1')
    expect(dataOf(await altered())).toEqual([{ org_id: acme.id, kind: 'appointment', id: String(admin) }])
  })

  test('do not exist in a store that only the service writes', async () => {
    expect(dataOf(await altered())).toEqual([])
  })

  test('are all listed for the operator', async () => {
    await alter()
    expect(dataOf(await altered())).toEqual([
      { org_id: 0, kind: 'signing_key', id: kid },
      { org_id: foreign.id, kind: 'api_key', id: foreign.keyId },
      { org_id: acme.id, kind: 'device', id: String(device) },
      { org_id: 0, kind: 'user', id: user },
    ])
  })

  test('are listed for an organization if they are its own', async () => {
    await alter()
    const own = [{ org_id: acme.id, kind: 'device', id: String(device) }]
    expect(dataOf(await altered(acme.key))).toEqual(own)
    expect(dataOf(await altered(acme.key, acme.id))).toEqual(own)
    expect(refusal(await altered(acme.key, foreign.id))).toEqual([404, 'not_found', []])
  })

  test('are reported in the log once each', async () => {
    await alter()
    const log: LogRecord[] = []
    const stop = watchCustody(service.service, (record) => log.push(record))
    await expect.poll(() => log.length).toBe(4)
    await stop()
    expect(log.map(({ level, message }) => `${level} ${message}`)).toEqual([
      `warn Another program has changed signing key ${kid} of the service in the store, so it is not used`,
      `warn Another program has changed api key ${foreign.keyId} of organization ${foreign.id} in the store, so it is not used`,
      `warn Another program has changed device ${device} of organization ${acme.id} in the store, so it is not used`,
      `warn Another program has changed user ${user} of the service in the store, so it is not used`,
    ])
  })

  test('are not looked for after a stop, when the store may be closed', async () => {
    await alter()
    const log: LogRecord[] = []
    let reads = 0
    const read: typeof service.storage.read = (work) => {
      reads += 1
      return service.storage.read(work)
    }
    const storage = { ...service.storage, read }
    await watchCustody({ ...service.service, storage }, (record) => log.push(record))()
    const before = reads
    await findAlteredRows({ storage: service.storage, keyring: service.service.keyring })
    expect(reads).toBe(before)
    expect(log).toEqual([])
  })
})

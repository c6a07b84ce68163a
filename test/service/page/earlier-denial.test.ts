import { beforeEach, expect, test } from 'vitest'
import { findAlteredRows } from '../../../src/service/custody/altered-rows.ts'
import { decide } from '../approver.ts'
import { createTenant, dataOf } from '../fixtures.ts'
import { createPhone, type Phone, readInbox } from './phone.ts'
import { acme, ada, addTablet, clock, installHooks, service } from './visit.ts'

installHooks()

let bob: Phone
beforeEach(async () => {
  bob = await createPhone(service, acme.id, 2)
})

const hour = 60 * 60 * 1000
const request = async (action: string, approvers: string[], key = acme.key) =>
  dataOf(await service.call('POST', '/svc/v1/approvals', { key, body: { action, approvers } }))
const denyAsBob = async (action = 'Drop it', more: object = {}): Promise<void> => {
  const { request_id } = await request(action, [ada.mobile, bob.mobile])
  dataOf(await decide(service, request_id, bob.key, { decision: 'deny', ...more }))
}
const shown = async (phone = ada) => (await readInbox(service, phone)).requests.at(-1).earlier_denial

test('whoever is asked for the same again reads who denied it, when, and the note', async () => {
  await denyAsBob('Drop it', { note: 'Not today' })
  const at = clock.iso()
  clock.tick(hour)
  await request('Drop it', [ada.mobile])
  expect(await shown()).toEqual({ name: 'Ada Lovelace', at, note: 'Not today' })
})

test('a denial that another program has changed is not shown as somebody said it', async () => {
  await denyAsBob('Drop it', { note: 'Not today' })
  await service.runSql("UPDATE approvals SET note = 'Fine with me now'")
  await request('Drop it', [ada.mobile])
  expect(await shown()).toBeNull()
  expect(await findAlteredRows(service.service)).toMatchObject([{ kind: 'approval' }])
})

test('a denial is shown also without its receipt, which another program can take away', async () => {
  await denyAsBob()
  await service.runSql('UPDATE approvals SET attestation = NULL')
  await request('Drop it', [ada.mobile])
  expect(await shown()).toMatchObject({ name: 'Ada Lovelace' })
})

test('the last of several denials is shown, and none of another subject', async () => {
  await denyAsBob()
  clock.tick(hour)
  await denyAsBob()
  const at = clock.iso()
  await request('Drop it', [ada.mobile])
  expect(await shown()).toEqual({ name: 'Ada Lovelace', at })
  await request('Drop them', [ada.mobile])
  expect(await shown()).toBeNull()
})

test('each of several people who are asked again reads it, on each of their devices', async () => {
  await denyAsBob()
  const at = clock.iso()
  const tablet = await addTablet()
  await request('Drop it', [ada.mobile, bob.mobile])
  for (const phone of [ada, tablet]) expect(await shown(phone)).toEqual({ name: 'Ada Lovelace', at })
  expect(await shown(bob)).toEqual({ name: 'Ada Lovelace', own: true, at })
})

test('a denial is forgotten after a day', async () => {
  await denyAsBob()
  clock.tick(24 * hour)
  await request('Drop it', [ada.mobile])
  expect(await shown()).toBeNull()
})

test('a wrong number is nobody who denied it', async () => {
  const { request_id } = dataOf(
    await service.call('POST', '/svc/v1/approvals', {
      key: acme.key,
      body: { action: 'Drop it', approvers: [bob.mobile], number: true },
    }),
  )
  for (const number of ['00', '00'])
    await decide(service, request_id, bob.key, { decision: 'approve', number })
  const { status } = dataOf(await service.call('GET', `/svc/v1/approvals/${request_id}`, { key: acme.key }))
  expect(status).toBe('denied')
  await request('Drop it', [ada.mobile])
  expect(await shown()).toBeNull()
})

test('a denial in another organization is not shown', async () => {
  const other = await createTenant(service, 'other')
  const eve = await createPhone(service, other.id, 3)
  await denyAsBob()
  await request('Drop it', [eve.mobile], other.key)
  expect(await shown(eve)).toBeNull()
})

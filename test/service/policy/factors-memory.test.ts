import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Policy } from '../../../src/factors/decide.ts'
import { ask, createApprover, decide, enroll, type Approver } from '../approver.ts'
import { createTenant, dataOf, fence, slot } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'

let service: TestService
let org: number
let ada: Approver
let ids: { fence: number; slot: string }
beforeEach(async () => {
  service = await startTestService({ dev: true })
  org = (await createTenant(service, 'acme')).id
  ada = await createApprover(service, org, 1)
  ids = {
    fence: (await write('POST', `/organization/${org}/create/geo-fence`, fence)).id,
    slot: (await write('POST', `/organization/${org}/timeslots/add`, slot)).id,
  }
})
afterEach(() => service.close())

const write = async (method: string, path: string, body?: object) =>
  dataOf(await service.call(method, path, { body }))
const rules = (): Promise<Policy> => service.service.factorsFor(org, Number(ada.id))
const here = { ...fence, is_active: undefined, enabled: true }
const changes: [string, () => Promise<unknown>][] = [
  ['a fence more', () => write('POST', `/organization/${org}/create/geo-fence`, { ...fence, name: 'B' })],
  [
    'a fence moved',
    () => write('PUT', `/organization/${org}/update/geo-fence/${ids.fence}`, { latitude: 1 }),
  ],
  ['a fence less', () => write('DELETE', `/organization/${org}/delete/geo-fence/${ids.fence}`)],
  ['a slot more', () => write('POST', `/organization/${org}/timeslots/add`, { ...slot, name: 'B' })],
  ['a slot moved', () => write('PUT', `/timeslot/${ids.slot}/update`, { start: '10:00' })],
  ['a slot less', () => write('DELETE', `/timeslot/${ids.slot}/delete`)],
  ['a fence of the user', () => write('PUT', `/user/${ada.id}/geofences/update`, { geofences: [here] })],
  ['a slot of the user', () => write('PUT', `/user/${ada.id}/timeslots/update`, { timeslots: [slot] })],
  ['another policy', () => write('PUT', `/organization/${org}/update`, { policy: { device_trust: true } })],
]

describe('the rules in memory', () => {
  test.each(changes)('are those of the store after %s', async (_, change) => {
    const before = await rules()
    await change()
    // Compiled rules hold functions: equal ones are the same ones.
    expect(await rules()).not.toEqual(before)
  })

  test('stay as they are while people are asked, decide and enroll', async () => {
    const before = await rules()
    const body = { policy: { report_only: ['location', 'time'] } }
    await write('PUT', `/organization/${org}/update`, body)
    const compiled = (await rules()).organization
    expect(compiled).not.toBe(before.organization)
    const { request_id } = dataOf(await ask(service, ada))
    dataOf(await decide(service, request_id, ada.key))
    await enroll(service, org, ada.id)
    expect((await rules()).organization).toBe(compiled)
  })

  test('are read once for concurrent requests while no other node can commit', async () => {
    await write('PUT', `/organization/${org}/update`, { name: 'Acme' })
    const [one, two] = await Promise.all([rules(), service.service.factorsFor(org)])
    // Where another node could commit, one of them may read again, or find what the other has just read.
    expect(service.storage.shared || one.organization === two.organization).toBe(true)
  })

  test('are the same for checks and decisions', async () => {
    await write('PUT', `/organization/${org}/update`, { name: 'Acme' })
    const one = await rules()
    const check = `/svc/v1/organizations/${org}/geofence-check?latitude=${fence.latitude}&longitude=${fence.longitude}`
    const verdict = async () => dataOf(await service.call('GET', check)).result
    expect(await verdict()).toBe('PASS')
    expect((await rules()).organization).toBe(one.organization)
    await changes[1]![1]()
    expect(await verdict()).toBe('FAIL')
  })

  test('are gone with their organization', async () => {
    await rules()
    await service.call('DELETE', `/organization/${org}/delete`)
    await expect(rules()).rejects.toMatchObject({ status: 404 })
  })
})

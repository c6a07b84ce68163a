import { beforeEach, expect, test } from 'vitest'
import { acme, ada, installHooks, service } from '../acme-with-ada.ts'
import { type Approver, createApprover } from '../approver.ts'
import { dataOf, fence, refusedWithoutTrace, slot } from '../fixtures.ts'
import { at, createRule } from '../rule-fixture.ts'

installHooks()

let grace: Approver
beforeEach(async () => {
  grace = await createApprover(service, acme.id, 2)
})

const org = (path: string) => `/organization/${acme.id}/${path}`
const call = (method: string, path: string, body?: object) => service.call(method, path, { body })
const addFence = async () => dataOf(await call('POST', org('create/geo-fence'), fence)).id
const addSlot = async () => dataOf(await call('POST', org('timeslots/add'), slot)).id
const addRule = (factor: string) =>
  createRule(service, acme.id, { members: [ada.id, grace.id], match: { type: 'text' }, factors: [factor] })
const broken = [409, 'rule_not_completable', []]

test('the last geofence of a rule stays active until there is another', async () => {
  const id = await addFence()
  const { rule } = await addRule('location')
  const off = () => call('PUT', org(`update/geo-fence/${id}`), { is_active: 0 })
  const remove = () => call('DELETE', org(`delete/geo-fence/${id}`))
  expect(await refusedWithoutTrace(service, off)).toEqual(broken)
  expect(await refusedWithoutTrace(service, remove)).toEqual(broken)
  expect((await remove()).body.message).toBe(
    `The rule ${rule} requires location, and acme has no active geofence to check it against after this change`,
  )
  dataOf(await call('PUT', org(`update/geo-fence/${id}`), { radius: 300 }))
  await addFence()
  dataOf(await off())
  expect((await remove()).status).toBe(200)
})

test('the last time slot of a rule stays active until the rule is deleted', async () => {
  const id = await addSlot()
  const { rule } = await addRule('time')
  const off = () => call('PUT', `/timeslot/${id}/update`, { is_active: 0 })
  const remove = () => call('DELETE', `/timeslot/${id}/delete`)
  expect(await refusedWithoutTrace(service, off)).toEqual(broken)
  expect(await refusedWithoutTrace(service, remove)).toEqual(broken)
  dataOf(await call('DELETE', at(acme.id, `rules/${rule}`)))
  dataOf(await off())
  expect((await remove()).status).toBe(200)
})

test('geofences and time slots of the people of a rule are kept in the same way', async () => {
  const own = { ...fence, enabled: true, is_active: undefined }
  const setFences = (user: string, geofences: object[]) =>
    call('PUT', `/user/${user}/geofences/update`, { org_id: acme.id, geofences })
  const setSlots = (user: string, timeslots: object[]) =>
    call('PUT', `/user/${user}/timeslots/update`, { org_id: acme.id, timeslots })
  for (const { id } of [ada, grace]) {
    dataOf(await setFences(id, [own]))
    dataOf(await setSlots(id, [slot]))
  }
  const shared = await addFence()
  await addSlot()
  await addRule('location')
  await addRule('time')
  dataOf(await setFences(ada.id, []))
  dataOf(await setSlots(ada.id, []))
  expect(await refusedWithoutTrace(service, () => call('DELETE', org(`delete/geo-fence/${shared}`)))).toEqual(
    broken,
  )
  dataOf(await setFences(ada.id, [own]))
  expect((await call('DELETE', org(`delete/geo-fence/${shared}`))).status).toBe(200)
  expect(await refusedWithoutTrace(service, () => setFences(ada.id, []))).toEqual(broken)
})

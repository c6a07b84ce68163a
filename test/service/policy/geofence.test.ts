import { describe, expect, test } from 'vitest'
import { acme, installHooks, service } from '../acme.ts'
import {
  auditOf,
  contentsOf,
  createMember,
  createTenant,
  dataOf,
  fence,
  refusal,
  refusedWithoutTrace,
} from '../fixtures.ts'

installHooks()

const create = (body: object = {}) =>
  service.call('POST', `/organization/${acme.id}/create/geo-fence`, { body: { ...fence, ...body } })
const get = (id: number) => service.call('GET', `/organization/${acme.id}/geo-fence/${id}`)

describe('geo-fences of an organization', () => {
  test('are created, shown and listed in the order of their ids', async () => {
    const first = dataOf(await create())
    expect(first).toMatchObject({ ...fence, org_id: acme.id })
    const second = dataOf(await create({ is_active: 0, latitude: -90, longitude: 180, radius: 1_000_000 }))
    expect(second).toMatchObject({ is_active: 0, latitude: -90, longitude: 180, radius: 1_000_000 })
    expect(dataOf(await get(first.id))).toEqual(first)
    const path = `/organization/${acme.id}/geo-fences`
    expect(dataOf(await service.call('GET', path))).toEqual([first, second])
    const page = await service.call('GET', `${path}?limit=1`)
    expect(dataOf(page)).toEqual([first])
    expect(page.headers.link).toContain('rel="next"')
    expect((await auditOf(service, acme.id)).slice(-2)).toEqual([
      ['createGeofence', `geofence:${first.id}`, Object.keys(fence)],
      ['createGeofence', `geofence:${second.id}`, Object.keys(fence)],
    ])
  })

  test.each([
    [{ radius: 0 }, 'radius'],
    [{ radius: 1_000_001 }, 'radius'],
    [{ radius: 1.5 }, 'radius'],
    [{ latitude: 90.1 }, 'latitude'],
    [{ longitude: '13' }, 'longitude'],
    [{ is_active: true }, 'is_active'],
    [{ name: ' ' }, 'name'],
  ])('are refused with %j', async (wrong, field) => {
    expect(await refusedWithoutTrace(service, () => create(wrong))).toEqual([422, 'invalid_field', [field]])
  })

  test('change only the fields of the request', async () => {
    const made = dataOf(await create())
    const path = `/organization/${acme.id}/update/geo-fence/${made.id}`
    const changed = dataOf(await service.call('PUT', path, { body: { radius: 300, is_active: 0 } }))
    expect(changed).toEqual({ ...made, radius: 300, is_active: 0, updated_at: changed.updated_at })
    expect(dataOf(await get(made.id))).toEqual(changed)
    expect((await auditOf(service, acme.id)).at(-1)).toEqual([
      'updateGeofence',
      `geofence:${made.id}`,
      ['radius', 'is_active'],
    ])
    expect(refusal(await service.call('PUT', path, { body: {} }))).toEqual([422, 'nothing_to_change', []])
  })

  test('are gone when they are deleted', async () => {
    const { id } = dataOf(await create())
    const path = `/organization/${acme.id}/delete/geo-fence/${id}`
    expect((await service.call('DELETE', path)).status).toBe(200)
    expect((await auditOf(service, acme.id)).at(-1)).toEqual(['deleteGeofence', `geofence:${id}`, []])
    expect(refusal(await get(id))).toEqual([404, 'not_found', []])
    expect(refusal(await service.call('DELETE', path))).toEqual([404, 'not_found', []])
    const update = `/organization/${acme.id}/update/geo-fence/${id}`
    expect(refusal(await service.call('PUT', update, { body: { radius: 1 } }))).toEqual([
      404,
      'not_found',
      [],
    ])
  })

  test('are not found under another organization, not even by an operator', async () => {
    const other = await createTenant(service, 'other')
    const { id } = dataOf(await create())
    const before = await contentsOf(service)
    for (const [method, path] of [
      ['GET', `/organization/${other.id}/geo-fence/${id}`],
      ['PUT', `/organization/${other.id}/update/geo-fence/${id}`],
      ['DELETE', `/organization/${other.id}/delete/geo-fence/${id}`],
    ] as const)
      expect(
        (await service.call(method, path, { body: method === 'PUT' ? { radius: 1 } : undefined })).status,
      ).toBe(404)
    expect(await contentsOf(service)).toEqual(before)
  })
})

const set = (userId: string, body: object, key?: string) =>
  service.call('PUT', `/user/${userId}/geofences/update`, { body, key })

const list = (userId: string, query = '', key?: string) =>
  service.call('GET', `/user/${userId}/geofences${query}`, { key })

describe('geo-fences of a user', () => {
  const home = { name: 'Home', latitude: 52.5, longitude: 13.4, radius: 100, enabled: true }
  const office = { ...home, name: 'Office', enabled: false }

  test('are replaced as a whole, in the order of the request', async () => {
    const { id } = await createMember(service, acme.id, 1)
    expect(dataOf(await list(id))).toEqual([])
    expect(dataOf(await set(id, { geofences: [office, home] }))).toEqual([office, home])
    expect(dataOf(await list(id))).toEqual([office, home])
    expect(dataOf(await set(id, { geofences: [home] }))).toEqual([home])
    expect(dataOf(await set(id, { geofences: [] }))).toEqual([])
    expect((await auditOf(service, acme.id)).at(-1)).toEqual([
      'setUserGeofences',
      `user:${id}`,
      ['geofences'],
    ])
  })

  test('stay as they were when one of the new ones is wrong', async () => {
    const { id } = await createMember(service, acme.id, 1)
    await set(id, { geofences: [home] })
    const before = await contentsOf(service)
    const wrong = await set(id, { geofences: [office, { ...home, radius: 0 }] })
    expect(refusal(wrong)).toEqual([422, 'invalid_field', ['geofences[1].radius']])
    expect(await contentsOf(service)).toEqual(before)
  })

  test('may be a thousand', async () => {
    const { id } = await createMember(service, acme.id, 1)
    const geofences = Array.from({ length: 1000 }, (_, i) => ({ ...home, name: `fence ${i}` }))
    expect(dataOf(await set(id, { geofences }))).toEqual(geofences)
  })

  test('belong to one membership: an operator names it if there are several', async () => {
    const other = await createTenant(service, 'other')
    const { id } = await createMember(service, acme.id, 1)
    await createMember(service, other.id, 1)
    expect(dataOf(await set(id, { org_id: other.id, geofences: [office] }))).toEqual([office])
    const unclear = await set(id, { geofences: [home] })
    expect(refusal(unclear)).toEqual([422, 'invalid_field', ['org_id']])
    expect(unclear.body.data.hint).toContain(`${acme.id}, ${other.id}`)
    expect(refusal(await list(id))).toEqual([422, 'invalid_field', ['org_id']])

    expect(dataOf(await list(id, '', other.key))).toEqual([office])
    expect(dataOf(await list(id, '', acme.key))).toEqual([])
    expect(dataOf(await list(id, `?org_id=${other.id}`))).toEqual([office])
  })

  test('are of a member: who was removed, or never was one, has none', async () => {
    const { id } = await createMember(service, acme.id, 1)
    await service.call('POST', '/organization/remove/user', { body: { org_id: acme.id, user_id: id } })
    for (const userId of [id, 99]) {
      expect(refusal(await list(userId))).toEqual([404, 'not_found', []])
      expect(refusal(await set(userId, { geofences: [] }))).toEqual([404, 'not_found', []])
    }
  })
})

const check = (query: string, key?: string) =>
  service.call('GET', `/svc/v1/organizations/${acme.id}/geofence-check?${query}`, { key })

describe('a check', () => {
  const inside = `latitude=${fence.latitude}&longitude=${fence.longitude}`

  test('reports the result of the geofences of the organization, and why', async () => {
    expect(dataOf(await check(inside))).toMatchObject({ factor: 'location', result: 'NOT_APPLICABLE' })
    await service.call('POST', `/organization/${acme.id}/create/geo-fence`, { body: fence })
    expect(dataOf(await check(`${inside}&accuracy_m=20`))).toEqual({
      factor: 'location',
      result: 'PASS',
      reason: '0 m from Headquarters (radius 150 m, accuracy 20 m)',
      expected: { organization: { name: 'Headquarters', radius_m: 150 } },
      observed: { organization: { distance_m: 0, accuracy_m: 20 } },
    })
    expect(dataOf(await check(`${inside}&accuracy_m=151`)).result).toBe('FAIL')
    expect(dataOf(await check('latitude=48.1&longitude=11.5')).result).toBe('FAIL')
  })

  test('includes the geofences of the named user', async () => {
    const { id } = await createMember(service, acme.id, 9)
    const geofences = [{ name: 'Home', latitude: 1, longitude: 2, radius: 100, enabled: true }]
    dataOf(await service.call('PUT', `/user/${id}/geofences/update`, { body: { geofences } }))
    expect(dataOf(await check(`${inside}&user_id=${id}`))).toMatchObject({ result: 'FAIL' })
    expect(dataOf(await check(`latitude=1&longitude=2&user_id=${id}`))).toMatchObject({ result: 'PASS' })
    expect(refusal(await check(`${inside}&user_id=99`))).toEqual([404, 'not_found', []])
  })

  test.each([
    ['latitude', 'latitude=91&longitude=1'],
    ['longitude', 'latitude=1&longitude=x'],
    ['accuracy_m', 'latitude=1&longitude=1&accuracy_m=-1'],
  ])('is refused with an absurd %s', async (field, query) => {
    expect(refusal(await check(query))).toEqual([422, 'invalid_field', [field]])
  })
})

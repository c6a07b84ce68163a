import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../harness.ts'

let service: TestService
let seen: unknown
beforeAll(async () => {
  service = await startTestService({
    handlers: {
      listUsers: async (input) => {
        seen = input
        return []
      },
      updateGeofence: async (input, call) => {
        seen = input
        await call.audit(input.org_id, `geofence:${input.id}`)
        return {} as never
      },
      setUserGeofences: async (_, call) => {
        await call.audit(0, 'x')
        return []
      },
    },
  })
})
afterAll(() => service.close())

const issues = async (method: string, path: string, body?: unknown) => {
  const answer = await service.call(method, path, { body })
  expect(answer.status).toBe(422)
  expect(answer.body.data.code).toBe('invalid_field')
  return answer.body.data.issues as { field: string; message: string }[]
}

describe('values of the address', () => {
  test('numbers in the path and the query arrive as numbers, texts as texts', async () => {
    await service.call('GET', '/organization/3/users?limit=5&mobile=%2B12025550101')
    expect(seen).toEqual({ org_id: 3, limit: 5, mobile: '+12025550101' })
  })

  test.each(['abc', '1.5', '01', '-1', '0', '1e3', '99999999999999999999', '%00', ' 1'])(
    'an id %j names the field',
    async (id) => {
      expect((await issues('GET', `/organization/${encodeURIComponent(id)}/users`))[0]!.field).toBe('org_id')
    },
  )

  test('rejects an unknown or repeated name', async () => {
    expect(await issues('GET', '/organization/3/users?stat=active')).toEqual([
      { field: 'stat', message: 'is not a known field; did you mean state?' },
    ])
    expect(await issues('GET', '/organization/3/users?limit=1&limit=2')).toEqual([
      { field: 'limit', message: 'appears more than once' },
    ])
  })

  test('refuses a field of the body in the query', async () => {
    expect(await issues('POST', '/organization/create?name=A', { name: 'B' })).toEqual([
      { field: 'name', message: 'is not a known field' },
    ])
  })

  test('ignores other names in the query of an operation that has none, except for a delete', async () => {
    const fences = '/organization/1/geo-fence/1'
    expect((await service.call('GET', `${fences}?_=1753`)).status).toBe(404)
    const { status } = await service.call('PUT', '/organization/1/update/geo-fence/2?lang=de', {
      body: { radius: 5 },
    })
    expect(status).toBe(200)
    expect(await issues('DELETE', '/organization/1/delete?dry_run=true')).toEqual([
      { field: 'dry_run', message: 'is not a known field' },
    ])
  })

  test('refuses a value of the path in the body unless it is the same', async () => {
    expect(await issues('PUT', '/organization/1/update/geo-fence/2', { id: 3, radius: 5 })).toEqual([
      { field: 'id', message: 'differs from the URL; leave it out of the body' },
    ])
    const { status } = await service.call('PUT', '/organization/1/update/geo-fence/2', {
      body: { org_id: 1, id: '2', radius: 5 },
    })
    expect([status, seen]).toEqual([200, { org_id: 1, id: 2, radius: 5 }])
  })

  test('path and body arrive as one', async () => {
    const { status } = await service.call('PUT', '/organization/1/update/geo-fence/2', {
      body: { radius: 5 },
    })
    expect(status).toBe(200)
    expect(seen).toEqual({ org_id: 1, id: 2, radius: 5 })
  })
})

const fence = { name: 'Home', latitude: 52.5, longitude: 13.4, radius: 100, enabled: true }
const set = (...geofences: unknown[]) => issues('PUT', '/user/7/geofences/update', { geofences })

describe('fields of a body', () => {
  test.each([
    [{ ...fence, radius: undefined }, 'geofences[0].radius', 'is missing'],
    [{ ...fence, radius: '100' }, 'geofences[0].radius', 'must be a whole number of metres'],
    [{ ...fence, radius: 0 }, 'geofences[0].radius', 'must be 1 metre or more'],
    [{ ...fence, latitude: 91 }, 'geofences[0].latitude', 'must be 90 or less'],
    [{ ...fence, enabled: 'yes' }, 'geofences[0].enabled', 'must be true or false'],
    [{ ...fence, name: 5 }, 'geofences[0].name', 'must be text'],
    [{ ...fence, name: '  ' }, 'geofences[0].name', 'must not be empty'],
    [{ ...fence, radious: 5 }, 'geofences[0].radious', 'is not a known field; did you mean radius?'],
    ['home', 'geofences[0]', 'must be an object'],
  ])('%j: %s %s', async (entry, field, message) => {
    expect(await set(entry)).toEqual([{ field, message }])
  })

  test('the message names the first and counts the rest', async () => {
    const { body } = await service.call('PUT', '/user/7/geofences/update', { body: { geofences: [{}] } })
    expect(body.message).toBe('geofences[0].name is missing (and 4 more)')
  })

  test('one of several values is listed', async () => {
    const path = '/organization/1/create/geo-fence'
    const { enabled: _, ...place } = fence
    expect(await issues('POST', path, { ...place, is_active: 2 })).toEqual([
      { field: 'is_active', message: 'must be 0 or 1' },
    ])
    expect(await issues('GET', '/organization/3/users?state=gone')).toEqual([
      { field: 'state', message: 'must be pending, active, rejected or removed' },
    ])
  })

  test('another spelling of a known name is recognised', async () => {
    expect(await issues('POST', '/organization/create', { name: 'A', Slug: 'a' })).toEqual([
      { field: 'Slug', message: 'is not a known field; did you mean slug?' },
    ])
  })

  test('NUL and half a surrogate pair are refused, wherever they are', async () => {
    const message = 'must not contain NUL or an unpaired surrogate'
    expect(await issues('POST', '/organization/create', { name: 'a\0b' })).toEqual([
      { field: 'name', message },
    ])
    expect(await issues('POST', '/organization/create', '{"name":"\\ud800"}')).toEqual([
      { field: 'name', message },
    ])
    expect(await set({ ...fence, name: 'a\0' })).toEqual([{ field: 'geofences[0].name', message }])
  })

  test('nine thousand unknown fields give fifty issues', async () => {
    const body = Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`field${i}`, 1]))
    expect((await issues('POST', '/organization/create', body)).length).toBeLessThanOrEqual(51)
  })
})

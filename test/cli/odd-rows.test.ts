import { beforeEach, describe, expect, test } from 'vitest'
import { json } from '../fake-hosted.ts'
import { installHooks, run, service } from './other-service.ts'

installHooks()

const odd = [null, 7, 'x', [], { id: 1, name: 'Gate', latitude: 52, longitude: 13, radius: 9, is_active: 1 }]

describe('a list with rows that are not records', () => {
  beforeEach(() => {
    service.always((seen, response) => {
      const data = seen.path.endsWith('/organization/1') ? { id: 1, slug: 'acme', name: 'Acme' } : odd
      json(200, { status: 'success', message: 'OK', data })(seen, response)
    })
  })

  test.each([
    'timeslot week --org 1',
    'export --org 1',
    'user import - --org 1 --on-conflict skip',
    'doctor',
  ])('does not break svc %s', async (line) => {
    expect((await run(line)).err).not.toContain('inside svc')
  })

  test.each(['geofence map --org 1', 'geofence list --org 1'])(
    'still shows the valid rows in svc %s',
    async (line) => {
      expect((await run(line)).out).toContain('Gate')
    },
  )
})

describe('users of another service', () => {
  const envelope = { status: 'success', message: 'OK' }

  test('are shown with the two parts of their number, masked on a terminal', async () => {
    const data = [{ id: 'u-7', first_name: 'Ada', country_code: '+1', mobile: '2025550101' }]
    service.always(json(200, { ...envelope, data }))
    expect((await run('user list --org 1')).out).toBe('u-7\tAda\t\t+1\t2025550101\t\t\t\n')
    const { out } = await run('user list --org 1', { tty: true })
    expect(out).toContain('+1')
    expect(out).not.toContain('2025550101')
  })

  test('are printed by the id that they have', async () => {
    service.always(json(200, { ...envelope, data: [{ user_id: 'u-7', first_name: 'Ada' }] }))
    expect((await run('user list --org 1 -o id')).out).toBe('u-7\n')
  })
})

import { describe, expect, test } from 'vitest'
import { acme, installHooks, service } from '../acme.ts'
import { auditOf, contentsOf, dataOf, refusal } from '../fixtures.ts'
import { machine, post, register, values } from './machine.ts'

installHooks()

const at = (id = '') => `/svc/v1/organizations/${acme.id}/machines${id && `/${id}`}`
const login = (more: object = {}) => post('/dynamic_auth/login', { ...values, ...more })

describe('a registered machine', () => {
  test('is listed without the values that it logs in with', async () => {
    await register()
    await register({ machineId: 'press-02' })
    const shown = {
      machineId: 'press-01',
      machineName: 'Press 1',
      mobile: '+12025550101',
      org_id: acme.id,
      registered_at: '2030-01-31T12:00:00.000Z',
    }
    expect(dataOf(await service.call('GET', at()))).toEqual([shown, { ...shown, machineId: 'press-02' }])
    const page = await service.call('GET', `${at()}?limit=1`)
    expect([dataOf(page).length, page.headers.link]).toEqual([1, expect.stringContaining('rel="next"')])
  })

  test('is deleted, cannot log in, and can be registered again', async () => {
    await register()
    expect((await service.call('DELETE', at('press-01'))).status).toBe(200)
    expect((await login()).status).toBe(403)
    expect((await register()).status).toBe(200)
    expect(await auditOf(service, acme.id)).toContainEqual(['deleteMachine', 'machine:press-01', []])
  })

  test('must exist', async () => {
    await register()
    const before = await contentsOf(service)
    expect(refusal(await service.call('DELETE', at('press-09')))).toEqual([404, 'not_found', []])
    expect(await contentsOf(service)).toEqual(before)
  })

  test('keeps its registration if it is registered again', async () => {
    await register()
    expect(refusal(await register({ ...machine, machineName: 'other' }))).toEqual([409, 'machine_exists', []])
  })
})

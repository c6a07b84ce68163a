import { describe, expect, test } from 'vitest'
import { acme, clock, installHooks, service } from '../acme.ts'
import { createTenant, dataOf, refusal } from '../fixtures.ts'
import { post, register, verify } from './machine.ts'

installHooks()

describe('POST /dynamic_auth/verify', () => {
  test('reports that a machine is registered, without the values of its login', async () => {
    dataOf(await register())
    expect(dataOf(await verify('press-01'))).toEqual({
      machineId: 'press-01',
      known: true,
      machineName: 'Press 1',
      org_id: acme.id,
      registered_at: clock.iso(),
    })
  })

  test('answers 404 for an unknown machine and for one of another organization', async () => {
    dataOf(await register())
    const globex = await createTenant(service, 'globex')
    expect(refusal(await verify('press-02'))).toEqual([404, 'not_found', []])
    expect(refusal(await verify('press-01', {}, globex.key))).toEqual([404, 'not_found', []])
    expect(refusal(await verify('press-02', {}, service.operatorKey))).toEqual([
      422,
      'invalid_field',
      ['org_id'],
    ])
    expect(dataOf(await verify('press-01', {}, service.operatorKey)).org_id).toBe(acme.id)
  })

  test('accepts the id in snake case only', async () => {
    const answer = await post('/dynamic_auth/verify', { machineId: 'press-01' })
    expect(refusal(answer)).toEqual([422, 'invalid_field', ['machine_id', 'machineId']])
    expect(answer.body.data.issues[1].message).toContain('did you mean machine_id?')
  })
})

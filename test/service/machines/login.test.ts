import { describe, expect, test } from 'vitest'
import { acme, clock, installHooks, service } from '../acme.ts'
import { minute } from '../clock.ts'
import { auditOf, createTenant, dataOf, refusal } from '../fixtures.ts'
import { machine, post, register, values } from './machine.ts'

installHooks()

const login = (more: object = {}, key?: string) => post('/dynamic_auth/login', { ...values, ...more }, key)

describe('POST /dynamic_auth/login', () => {
  const refusedLogin = [403, 'login_refused', []]

  test('accepts a machine whose values all match, and returns no data', async () => {
    dataOf(await register())
    const { status, body } = await login()
    expect([status, body]).toEqual([200, { status: 'success', message: 'Machine logged in' }])
    expect((await auditOf(service, acme.id)).at(-1)).toEqual([
      'loginMachine',
      'machine:press-01',
      ['logged_in'],
    ])
  })

  test.each([
    { stockName: 'aapl' },
    { stockName: 'APPLE INC.' },
    { totalPrice: '12500' },
    { totalPrice: '12,500' },
    { currentStockPrice: '250.40' },
  ])('accepts %j as another spelling of the same value', async (more) => {
    dataOf(await register())
    expect((await login(more)).status).toBe(200)
  })

  test('accepts the whole registration', async () => {
    dataOf(await register())
    expect((await login({ ...machine, mobile: '+1 202 555 0101' })).status).toBe(200)
  })

  test('accepts the stock code for a machine registered by name, or by a name that no provider knows', async () => {
    dataOf(await register({ stockName: 'Apple Inc.' }))
    expect((await login({ stockName: 'AAPL' })).status).toBe(200)
    dataOf(await register({ machineId: 'b', stockName: 'ÄCME Corp' }))
    expect((await login({ machineId: 'b', stockName: 'äcme corp' })).status).toBe(200)
  })

  test.each([
    { machineId: 'press-02' },
    { machineId: 'PRESS-01' },
    { stockName: 'MSFT' },
    { totalPrice: '12,500.01' },
    { currentStockPrice: '250.41' },
    { machineName: 'Press 2' },
    { mobile: '+12025550102' },
  ])('refuses %j with the same answer as any other', async (more) => {
    dataOf(await register())
    const answer = await login(more)
    expect(refusal(answer)).toEqual(refusedLogin)
    expect(answer.body).toEqual((await login({ totalPrice: '1' })).body)
    expect((await auditOf(service, acme.id)).at(-1)![2]).toEqual(['refused'])
  })

  test('does not find the machine of another organization', async () => {
    dataOf(await register())
    const globex = await createTenant(service, 'globex')
    expect(refusal(await login({}, globex.key))).toEqual(refusedLogin)
    expect(refusal(await login({ org_id: acme.id }, globex.key))).toEqual([404, 'not_found', []])
  })

  test.each(['press-01', 'never-registered'])(
    'stops %s after five failures in ten minutes',
    async (machineId) => {
      dataOf(await register())
      for (let i = 0; i < 5; i++) {
        expect(refusal(await login({ machineId, totalPrice: '1' }))).toEqual(refusedLogin)
        clock.tick(minute)
      }
      const answer = await login({ machineId })
      expect(refusal(answer)).toEqual([429, 'too_many_logins', []])
      expect(answer.headers['retry-after']).toBe('300')
      clock.tick(5 * minute)
      expect((await login({ machineId })).status).toBe(machineId === 'press-01' ? 200 : 403)
    },
  )

  test('counts concurrent failures, for each machine separately', async () => {
    dataOf(await register())
    dataOf(await register({ machineId: 'b' }))
    const wrong = await Promise.all(Array.from({ length: 20 }, () => login({ totalPrice: '1' })))
    expect(wrong.map(({ status }) => status).toSorted()).toEqual([
      ...Array(5).fill(403),
      ...Array(15).fill(429),
    ])
    expect((await login({ machineId: 'b' })).status).toBe(200)
  })

  test('resets the failures after a successful login', async () => {
    dataOf(await register())
    for (let i = 0; i < 4; i++) await login({ totalPrice: '1' })
    expect((await login()).status).toBe(200)
    for (let i = 0; i < 4; i++) expect(refusal(await login({ totalPrice: '1' }))).toEqual(refusedLogin)
    expect((await login()).status).toBe(200)
  })

  test('finds for an operator the only organization that has the machine', async () => {
    const { operatorKey } = service
    dataOf(await register())
    const globex = await createTenant(service, 'globex')
    expect((await login({}, operatorKey)).status).toBe(200)
    dataOf(await register({ totalPrice: '1' }, globex.key))
    expect(refusal(await login({}, operatorKey))).toEqual([422, 'invalid_field', ['org_id']])
    expect((await login({ org_id: globex.id, totalPrice: '1.00' }, operatorKey)).status).toBe(200)
  })

  test.each([
    [{ totalPrice: '1e3' }, 'totalPrice'],
    [{ currentStockPrice: undefined }, 'currentStockPrice'],
    [{ machine_name: 'x' }, 'machine_name'],
  ])('refuses %j, names the field and counts nothing', async (more, field) => {
    for (let i = 0; i < 6; i++) expect(refusal(await login(more))).toEqual([422, 'invalid_field', [field]])
  })
})

import { describe, expect, test } from 'vitest'
import { acme, clock, installHooks, service } from '../acme.ts'
import { auditOf, contentsOf, createTenant, dataOf, refusal, refusedWithoutTrace } from '../fixtures.ts'
import { machine, post, register, verify } from './machine.ts'

installHooks()

describe('POST /dynamic_auth/register', () => {
  test('registers a machine and returns its stock', async () => {
    const { status, body } = await register()
    expect([status, body.status, body.message]).toEqual([200, 'success', 'Machine registered'])
    expect(body.data).toEqual({
      machineId: 'press-01',
      machineName: 'Press 1',
      org_id: acme.id,
      stock_symbol: 'AAPL',
      registered_at: clock.iso(),
    })
    expect((await auditOf(service, acme.id)).at(-1)).toMatchObject([
      'registerMachine',
      'machine:press-01',
      Object.keys(machine),
    ])
  })

  test('accepts a stock that the provider does not know', async () => {
    expect(dataOf(await register({ stockName: 'Acme Corp' })).stock_symbol).toBeNull()
  })

  test('refuses an id that the organization has, and accepts it in another organization', async () => {
    dataOf(await register())
    expect(await refusedWithoutTrace(service, () => register({ stockName: 'MSFT' }))).toEqual([
      409,
      'machine_exists',
      [],
    ])
    const globex = await createTenant(service, 'globex')
    expect(dataOf(await register({}, globex.key)).org_id).toBe(globex.id)
  })

  test('accepts one of many concurrent registrations', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => register()))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(409)])
  })

  test('stores the canonical mobile number', async () => {
    dataOf(await register({ mobile: '+1 (202) 555-0101' }))
    const rows = (await contentsOf(service)).machines
    expect(rows).toMatchObject([
      { mobile: '+12025550101', total_price: '12500.00', current_stock_price: '250.40' },
    ])
  })

  test.each(['a', 'A.b-c_9', '...', '-', '0'.repeat(128)])('accepts the machineId %s', async (machineId) => {
    dataOf(await register({ machineId }))
    expect(dataOf(await verify(machineId)).machineId).toBe(machineId)
  })

  test.each([
    '',
    ' ',
    'press 01',
    'press/01',
    'prèss',
    'press\n',
    ' press-01',
    '０１',
    'a'.repeat(129),
    7,
    null,
  ])('refuses the machineId %j and names the field', async (machineId) => {
    expect(refusal(await register({ machineId }))).toEqual([422, 'invalid_field', ['machineId']])
  })

  const badPrices = [
    '1,00.5',
    '1e3',
    '-1',
    '+1',
    '01',
    '00',
    '1.',
    '.5',
    '1.234',
    '1,234,5',
    '12,34',
    ',123',
    '1,,234',
    '0,123',
    '1234,567',
    '1.5,000',
    '1 234',
    '١٢٣',
    '１２',
    'NaN',
    '$5',
    '',
    ' 5',
    '5\n',
  ]
  test.each(
    badPrices.flatMap((price) => [['totalPrice', price] as const, ['currentStockPrice', price] as const]),
  )('refuses as %s %j and shows what to type', async (field, price) => {
    const answer = await register({ [field]: price })
    expect(refusal(answer)).toEqual([422, 'invalid_field', [field]])
    expect(answer.body.message).toMatch(/must be a price such as 1,234\.50 or 1234\.5/)
  })

  test.each(['totalPrice', 'currentStockPrice'])(
    'refuses a number as %s: a float loses digits',
    async (field) => {
      expect(refusal(await register({ [field]: 1234.5 }))).toEqual([422, 'invalid_field', [field]])
    },
  )

  test.each([
    [{ mobile: '2025550101' }, 'mobile'],
    [{ mobile: '＋12025550101' }, 'mobile'],
    [{ mobile: '+999123456' }, 'mobile'],
    [{ mobile: '+1' }, 'mobile'],
    [{ stockName: '  ' }, 'stockName'],
    [{ stockName: undefined }, 'stockName'],
    [{ machineName: undefined }, 'machineName'],
    [{ machineName: 'a\u0007' }, 'machineName'],
    [{ machine_id: 'x' }, 'machine_id'],
    [{ totalPrice: '1'.repeat(41) }, 'totalPrice'],
  ])('refuses %j and names the field', async (more, field) => {
    expect(await refusedWithoutTrace(service, () => register(more))).toEqual([422, 'invalid_field', [field]])
  })

  test('refuses a body that is empty, and one that is too large', async () => {
    expect(refusal(await post('/dynamic_auth/register', ''))).toEqual([
      422,
      'invalid_field',
      Object.keys(machine),
    ])
    expect((await post('/dynamic_auth/register', `{"machineId":"${'a'.repeat(10_000_000)}"}`)).status).toBe(
      413,
    )
  })

  test('requires the organization of an operator if there are several', async () => {
    const { operatorKey } = service
    expect(dataOf(await register({}, operatorKey)).org_id).toBe(acme.id)
    const globex = await createTenant(service, 'globex')
    const answer = await register({ machineId: 'press-02' }, operatorKey)
    expect(refusal(answer)).toEqual([422, 'invalid_field', ['org_id']])
    expect(answer.body.data.hint).toContain(`one of ${acme.id}, ${globex.id}`)
    expect(dataOf(await register({ machineId: 'press-02', org_id: globex.id }, operatorKey)).org_id).toBe(
      globex.id,
    )
  })
})

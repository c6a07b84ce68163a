import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createClock, minute } from './clock.ts'
import { auditOf, contentsOf, createTenant, dataOf, refusal } from './fixtures.ts'
import { startTestService, type Answer, type TestService } from './harness.ts'

let clock: ReturnType<typeof createClock>
let service: TestService
let acme: { id: number; key: string }
beforeEach(async () => {
  clock = createClock()
  service = await startTestService({ now: clock.now })
  acme = await createTenant(service, 'acme')
})
afterEach(() => service.close())

const values = {
  machineId: 'press-01',
  stockName: 'AAPL',
  totalPrice: '12,500.00',
  currentStockPrice: '250.4',
}
const machine = { ...values, machineName: 'Press 1', mobile: '+12025550101' }
const post = (path: string, body: object | string, key = acme.key): Promise<Answer> =>
  service.call('POST', path, { key, body })
const register = (more: object = {}, key?: string) =>
  post('/dynamic_auth/register', { ...machine, ...more }, key)
const login = (more: object = {}, key?: string) => post('/dynamic_auth/login', { ...values, ...more }, key)
const verify = (machine_id: string, more: object = {}, key?: string) =>
  post('/dynamic_auth/verify', { machine_id, ...more }, key)

describe('POST /dynamic_auth/register', () => {
  test('registers a device and tells what the stock is', async () => {
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

  test('takes a stock that the provider does not know', async () => {
    expect(dataOf(await register({ stockName: 'Acme Corp' })).stock_symbol).toBeNull()
  })

  test('refuses an id that the organization has, and another organization may have it too', async () => {
    dataOf(await register())
    const before = await contentsOf(service)
    expect(refusal(await register({ stockName: 'MSFT' }))).toEqual([409, 'machine_exists', []])
    expect(await contentsOf(service)).toEqual(before)
    const globex = await createTenant(service, 'globex')
    expect(dataOf(await register({}, globex.key)).org_id).toBe(globex.id)
  })

  test('takes one of many at once', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => register()))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(409)])
  })

  test('keeps the mobile in its one spelling', async () => {
    dataOf(await register({ mobile: '+1 (202) 555-0101' }))
    const rows = (await contentsOf(service)).machines
    expect(rows).toMatchObject([
      { mobile: '+12025550101', total_price: '12500.00', current_stock_price: '250.40' },
    ])
  })

  test.each(['a', 'A.b-c_9', '...', '-', '0'.repeat(128)])('takes the machineId %s', async (machineId) => {
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
  )('refuses as %s %j and says what to type', async (field, price) => {
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
    const before = await contentsOf(service)
    expect(refusal(await register(more))).toEqual([422, 'invalid_field', [field]])
    expect(await contentsOf(service)).toEqual(before)
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

  test('asks an operator for the organization where there are several', async () => {
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

describe('POST /dynamic_auth/login', () => {
  const refusedLogin = [403, 'login_refused', []]

  test('lets a machine in whose values all match, and answers nothing more', async () => {
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
  ])('takes %j as another spelling of the same', async (more) => {
    dataOf(await register())
    expect((await login(more)).status).toBe(200)
  })

  test('takes the code of a machine that was registered with the name, or with a name that nobody else knows', async () => {
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
  ])('refuses %j as it refuses everything else', async (more) => {
    dataOf(await register())
    const answer = await login(more)
    expect(refusal(answer)).toEqual(refusedLogin)
    expect(answer.body).toEqual((await login({ totalPrice: '1' })).body)
    expect((await auditOf(service, acme.id)).at(-1)![2]).toEqual(['refused'])
  })

  test('knows nothing of the machine of another organization', async () => {
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

  test('counts each of many at once, and each machine by itself', async () => {
    dataOf(await register())
    dataOf(await register({ machineId: 'b' }))
    const wrong = await Promise.all(Array.from({ length: 20 }, () => login({ totalPrice: '1' })))
    expect(wrong.map(({ status }) => status).toSorted()).toEqual([
      ...Array(5).fill(403),
      ...Array(15).fill(429),
    ])
    expect((await login({ machineId: 'b' })).status).toBe(200)
  })

  test('forgets failures once a login went well', async () => {
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
    [{ machineName: 'x' }, 'machineName'],
  ])('refuses %j, names the field and counts nothing', async (more, field) => {
    for (let i = 0; i < 6; i++) expect(refusal(await login(more))).toEqual([422, 'invalid_field', [field]])
  })
})

describe('POST /dynamic_auth/verify', () => {
  test('tells that a machine is known, and nothing that it logs in with', async () => {
    dataOf(await register())
    expect(dataOf(await verify('press-01'))).toEqual({
      machineId: 'press-01',
      known: true,
      machineName: 'Press 1',
      org_id: acme.id,
      registered_at: clock.iso(),
    })
  })

  test('answers 404 for one that nobody registered, or another organization', async () => {
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

  test('takes the id in snake case only', async () => {
    const answer = await post('/dynamic_auth/verify', { machineId: 'press-01' })
    expect(refusal(answer)).toEqual([422, 'invalid_field', ['machine_id', 'machineId']])
    expect(answer.body.data.issues[1].message).toContain('did you mean machine_id?')
  })
})

const price = (symbol: string) =>
  service.call('GET', `/get/stock-price/${encodeURIComponent(symbol)}`, { key: acme.key })

describe('GET /get/stock-price/{Symbol}', () => {
  test('answers name, price with separators and exchange, and from when and where it is', async () => {
    expect(dataOf(await price('BRK.A'))).toEqual({
      stockName: 'Berkshire Hathaway Inc.',
      stockPrice: '680,920.00',
      stockExchangeName: 'NYSE',
      symbol: 'BRK.A',
      as_of: '2024-12-31T21:00:00.000Z',
      stale: false,
      source: 'sample',
    })
  })

  test.each(['aapl', 'AaPl', 'apple inc.', ' AAPL '])('finds %j', async (symbol) => {
    expect(dataOf(await price(symbol)).symbol).toBe('AAPL')
  })

  test.each(['NOPE', 'AAP', '../../organizations', '%', '💸'])('answers 404 for %j', async (symbol) => {
    expect(refusal(await price(symbol))).toEqual([404, 'not_found', []])
  })

  test('answers 409 when the provider fails and nothing is known, and machines register all the same', async () => {
    const broken = { source: 'http' as const, find: () => Promise.reject(new Error('down')) }
    const other = await startTestService({ quotes: broken })
    const { key } = await createTenant(other, 'acme')
    const answer = await other.call('GET', '/get/stock-price/AAPL', { key })
    expect(refusal(answer)).toEqual([409, 'quotes_unavailable', []])
    const registered = await other.call('POST', '/dynamic_auth/register', { key, body: machine })
    expect(dataOf(registered).stock_symbol).toBeNull()
    await other.close()
  })

  test('refuses a name that is none', async () => {
    for (const symbol of ['\u0000', ' ', 'a'.repeat(121)])
      expect(refusal(await price(symbol))).toEqual([422, 'invalid_field', ['Symbol']])
  })
})

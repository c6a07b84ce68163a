import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { LogRecord } from '../../../../src/core/log.ts'
import { createHttpProvider } from '../../../../src/service/machines/quotes/http-provider.ts'
import { createQuotes } from '../../../../src/service/machines/quotes/quotes.ts'
import { createClock, minute, second } from '../../clock.ts'

let server: Server
let answer: RequestListener
let requests: IncomingMessage[]
let log: LogRecord[]
let clock: ReturnType<typeof createClock>
beforeEach(async () => {
  requests = []
  log = []
  clock = createClock()
  server = createServer((request, response) => {
    requests.push(request)
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const open = () =>
  createQuotes(createHttpProvider({ url: `${origin()}/v1/{symbol}?as=json`, secret: 'h$&ush' }, clock.iso), {
    now: clock.iso,
    log: (one) => log.push(one),
  })
const body = (price: string) =>
  `{"symbol":"AAPL","name":"Apple Inc.","price":${price},"exchange":"NASDAQ","more":[1]}`
const says =
  (text: string, status = 200, headers: Record<string, string> = {}): RequestListener =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
const unavailable = { status: 409, code: 'quotes_unavailable' }

describe('an HTTP provider', () => {
  test('gets a code in upper case and the secret', async () => {
    answer = says(body('1234.5'))
    expect(await open().find('brk/a b')).toEqual({
      symbol: 'AAPL',
      name: 'Apple Inc.',
      price: '1234.50',
      exchange: 'NASDAQ',
      as_of: clock.iso(),
      stale: false,
      source: 'http',
    })
    expect(requests[0]!.url).toBe('/v1/BRK%2FA%20B?as=json')
    expect(requests[0]!.headers).toMatchObject({ authorization: 'Bearer h$&ush', accept: 'application/json' })
  })

  test.each([
    // A float would be 9007199254740992 and 1.00.
    ['9007199254740993.25', '9007199254740993.25'],
    ['1.0049999999999999999999', '1.00'],
    ['1.005', '1.01'],
    ['"1,234.50"', '1234.50'],
    ['1.2345E+3', '1234.50'],
  ])('returns the price %s exactly, as %s', async (price, exact) => {
    answer = says(body(price))
    expect((await open().find('A'))!.price).toBe(exact)
  })

  test('uses the time of the provider', async () => {
    answer = says(body('1').replace('"more"', '"as_of":"2024-12-31T22:00:00+01:00","more"'))
    expect(await open().find('apple')).toMatchObject({ as_of: '2024-12-31T21:00:00.000Z' })
  })

  test('finds nothing for a 404, or for a name of dots', async () => {
    answer = says('no', 404)
    expect(await open().find('NOPE')).toBeUndefined()
    expect(await open().find('..')).toBeUndefined()
    expect(requests).toHaveLength(1)
  })

  test('gets one request a minute for concurrent calls', async () => {
    answer = says(body('1'))
    const quotes = open()
    await Promise.all(Array.from({ length: 20 }, () => quotes.find('AAPL')))
    clock.tick(minute - 1)
    await quotes.find('aapl')
    expect(requests).toHaveLength(1)
    clock.tick(1)
    await quotes.find('AAPL')
    expect(requests).toHaveLength(2)
  })

  const failures: [string, RequestListener, string][] = [
    ['says 500', says('{}', 500), 'it returned status 500'],
    ['redirects', says('', 302, { location: '/elsewhere' }), 'it returned status 302'],
    ['answers no JSON', says('<h1>hush</h1>'), 'its answer is not JSON'],
    ['answers nothing', says(''), 'its answer is not JSON'],
    ['has no price', says('{"symbol":"A","name":"A","exchange":"N"}'), 'its price is missing or not valid'],
    ['has a price that is none', says(body('"1e3x"')), 'its price is not a price such as 1234.50'],
    ['has a negative price', says(body('-1')), 'its price is not a price such as 1234.50'],
    [
      'has a time that is none',
      says(body('1').replace('"more"', '"as_of":"now","more"')),
      'its as_of is not a time such as 2030-01-31T21:00:00Z',
    ],
    [
      'has an object for a name',
      says(body('1').replace('"Apple Inc."', '{}')),
      'its name is missing or not valid',
    ],
    ['answers a list', says('[]'), 'its answer is missing or not valid'],
    ['answers 10 MB', says(`{"a":"${'x'.repeat(10_000_000)}"}`), 'its answer is longer than 1048576 bytes'],
    ['cuts the connection', ({ socket }) => void socket.destroy(), 'UND_ERR_SOCKET'],
  ]

  test.each(failures)(
    'that %s is unavailable; the log says why and holds no secret',
    async (_, fails, why) => {
      answer = fails
      await expect(open().find('AAPL')).rejects.toMatchObject(unavailable)
      expect(requests).toHaveLength(1)
      expect(log).toMatchObject([{ level: 'warn', error: why }])
      expect(JSON.stringify(log)).not.toMatch(/hush|ush/)
    },
  )

  test('that hangs times out after three seconds', async () => {
    answer = (_, response) => void response.writeHead(200).write('{')
    const began = performance.now()
    await expect(open().find('AAPL')).rejects.toMatchObject(unavailable)
    expect(performance.now() - began).toBeLessThan(15_000)
    expect(log).toMatchObject([{ error: 'no answer in time' }])
  })

  test('that fails is replaced by its last price, marked stale, and gets no request for ten seconds', async () => {
    answer = says(body('1'))
    const quotes = open()
    const fresh = await quotes.find('AAPL')
    answer = says('', 503)
    clock.tick(minute)
    expect(await quotes.find('AAPL')).toEqual({ ...fresh, stale: true })
    await quotes.find('AAPL')
    expect(requests).toHaveLength(2)
    await expect(quotes.find('MSFT')).rejects.toMatchObject(unavailable)
    answer = says(body('2'))
    clock.tick(10 * second)
    expect(await quotes.find('AAPL')).toMatchObject({ price: '2.00', stale: false })
  })

  test('that no longer knows a stock is trusted', async () => {
    answer = says(body('1'))
    const quotes = open()
    await quotes.find('AAPL')
    clock.tick(minute)
    answer = says('', 404)
    expect(await quotes.find('AAPL')).toBeUndefined()
    clock.tick(minute)
    answer = says('', 500)
    await expect(quotes.find('AAPL')).rejects.toMatchObject(unavailable)
  })
})

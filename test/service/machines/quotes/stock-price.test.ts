import { describe, expect, test } from 'vitest'
import { acme, installHooks, service } from '../../acme.ts'
import { createTenant, dataOf, refusal } from '../../fixtures.ts'
import { startTestService } from '../../harness.ts'
import { machine } from '../machine.ts'

installHooks()

const price = (symbol: string) =>
  service.call('GET', `/get/stock-price/${encodeURIComponent(symbol)}`, { key: acme.key })

describe('GET /get/stock-price/{Symbol}', () => {
  test('returns name, price with separators, exchange, time and source', async () => {
    expect(dataOf(await price('BRK.A'))).toEqual({
      stockName: 'Berkshire Hathaway Inc.',
      stockPrice: '680,920.00',
      stockExchangeName: 'NYSE',
      symbol: 'BRK.A',
      as_of: '2024-12-31T21:00:00.000Z',
      stale: true,
      source: 'sample',
    })
  })

  test.each(['aapl', 'AaPl', 'apple inc.', ' AAPL '])('finds %j', async (symbol) => {
    expect(dataOf(await price(symbol)).symbol).toBe('AAPL')
  })

  test.each(['NOPE', 'AAP', '../../organizations', '%', '💸'])('answers 404 for %j', async (symbol) => {
    expect(refusal(await price(symbol))).toEqual([404, 'not_found', []])
  })

  test('answers 409 if the provider fails and no price is known, and machines can still register', async () => {
    const broken = { source: 'http' as const, find: () => Promise.reject(new Error('down')) }
    const other = await startTestService({ quotes: broken })
    const { key } = await createTenant(other, 'acme')
    const answer = await other.call('GET', '/get/stock-price/AAPL', { key })
    expect(refusal(answer)).toEqual([409, 'quotes_unavailable', []])
    const registered = await other.call('POST', '/dynamic_auth/register', { key, body: machine })
    expect(dataOf(registered).stock_symbol).toBeNull()
    await other.close()
  })

  test('refuses an invalid name', async () => {
    for (const symbol of ['\u0000', ' ', 'a'.repeat(121)])
      expect(refusal(await price(symbol))).toEqual([422, 'invalid_field', ['Symbol']])
  })
})

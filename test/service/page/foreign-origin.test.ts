import { describe, expect, test } from 'vitest'
import { dataOf, refusal } from '../fixtures.ts'
import { fromPhone } from './phone.ts'
import { ada, installHooks, service } from './visit.ts'

installHooks()

describe('a page of another origin', () => {
  test.each([
    ['POST', 'enrollment', { token: 'x' }],
    ['POST', 'challenge', {}],
    ['POST', 'session', { challenge: 'x', response: { id: 'x', response: {} } }],
    ['DELETE', 'session', undefined],
    ['POST', 'push', {}],
    ['POST', 'members/1/challenge', { move: 'accept' }],
    ['POST', 'members/1/move', {}],
  ])('reaches nothing with %s %s, nor does who names no origin', async (method, path, body) => {
    const elsewhere: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://127.0.0.1:8080' },
      { 'sec-fetch-site': 'same-site' },
      {},
    ]
    for (const headers of elsewhere) {
      const answer = await fromPhone(service, method, path, { cookie: ada.cookie, body, headers })
      expect(refusal(answer)).toEqual([403, 'foreign_origin', []])
    }
  })

  test('is also distinguished from the page by the headers of the browser', async () => {
    const headers = { 'sec-fetch-site': 'same-origin' }
    const answer = await fromPhone(service, 'POST', 'challenge', { headers })
    expect(dataOf(answer)).toEqual({ rp_id: 'localhost', challenge: expect.any(String) })
  })
})

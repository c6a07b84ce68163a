import { describe, expect, test } from 'vitest'
import { minute } from '../clock.ts'
import { refusal } from '../fixtures.ts'
import { answerTo, begin, cookieOf, createPhone, fromPhone } from './phone.ts'
import { acme, ada, clock, installHooks, openSession, service } from './visit.ts'

installHooks()

const sign = async () => {
  const challenge = await begin(service)
  return openSession(challenge, answerTo(challenge, ada.key))
}

describe('an assertion that opens a session', () => {
  test('opens one, once', async () => {
    const challenge = await begin(service)
    const response = answerTo(challenge, ada.key)
    const answers = await Promise.all([1, 2, 3].map(() => openSession(challenge, response)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 410, 410])
    expect(answers.filter(({ headers }) => headers['set-cookie'])).toHaveLength(1)
    expect(refusal(await openSession(challenge, response))).toEqual([410, 'challenge_over', []])
  })

  test('is accepted 30 times in ten minutes, and keeps the 20 newest sessions open', async () => {
    const cookies = [ada.cookie]
    for (let at = 0; at < 30; at++) cookies.push(cookieOf(await sign()))
    expect(refusal(await sign())).toEqual([429, 'rate_limited', []])
    const states = await Promise.all(
      cookies.map(async (cookie) => (await fromPhone(service, 'GET', 'session', { cookie })).status),
    )
    expect(states).toEqual([...Array(11).fill(401), ...Array(20).fill(200)])
    clock.tick(10 * minute)
    expect((await sign()).status).toBe(200)
  })

  test('must arrive within two minutes', async () => {
    const challenge = await begin(service)
    clock.tick(2 * minute)
    const late = await openSession(challenge, answerTo(challenge, ada.key))
    expect(refusal(late)).toEqual([410, 'challenge_over', []])
  })

  test.each<[string, (challenge: string) => Promise<unknown> | unknown, [number, string]]>([
    [
      'over another challenge',
      async () => answerTo(await begin(service), ada.key),
      [403, 'assertion_refused'],
    ],
    ['without the check of its user', (one) => answerTo(one, ada.key, false), [403, 'assertion_refused']],
    [
      'by another device under its name',
      async (one) => ({
        ...answerTo(one, (await createPhone(service, acme.id, 3)).key),
        id: ada.key.credential_id,
        rawId: ada.key.credential_id,
      }),
      [403, 'assertion_refused'],
    ],
    [
      'by a key that nobody registered',
      (one) => ({ ...answerTo(one, ada.key), id: 'AAAA' }),
      [403, 'device_not_registered'],
    ],
  ])('is refused %s', async (_, make, said) => {
    const challenge = await begin(service)
    const answer = await openSession(challenge, await make(challenge))
    expect(refusal(answer).slice(0, 2)).toEqual(said)
    expect(answer.headers['set-cookie']).toBeUndefined()
  })

  test.each(['x', 'AAAA', Buffer.from('v1.a.b.c').toString('base64url')])(
    'is refused over a challenge that the service never made: %s',
    async (challenge) => {
      expect(refusal(await openSession(challenge, answerTo('AAAA', ada.key)))).toEqual([
        410,
        'challenge_over',
        [],
      ])
    },
  )
})

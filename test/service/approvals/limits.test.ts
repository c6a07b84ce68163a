import { describe, expect, test } from 'vitest'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { ask, createApprover, decide } from '../approver.ts'
import { minute, second } from '../clock.ts'
import { createTenant, dataOf } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { asked, cancel } from './requested.ts'

installHooks()

const limitOf = (answer: Answer) => [answer.status, answer.body.data.code, answer.headers['retry-after']]

describe('an approver is not worn down:', () => {
  test('three requests of one key may wait', async () => {
    for (let i = 0; i < 3; i++) await asked()
    clock.tick(minute)
    const answer = await ask(service, ada, {}, acme.key)
    expect(limitOf(answer)).toEqual([429, 'too_many_pending', '240'])
    expect(answer.body.data.hint).toContain('the first expires in 4 min')
    dataOf(await ask(service, ada))
  })

  test('the phone rings five times in ten minutes, whoever asks', async () => {
    for (let i = 0; i < 5; i++) {
      await cancel(await asked())
      clock.tick(second)
    }
    for (const key of [acme.key, service.operatorKey])
      expect(limitOf(await ask(service, ada, {}, key))).toEqual([429, 'too_many_rings', '595'])
    const { hint } = (await ask(service, ada, {}, acme.key)).body.data
    expect(hint).toBe('Try again in 9 min 55 s')
    expect(service.rung).toHaveLength(5)
    clock.tick(595 * second)
    await asked()
  })

  test('an approval begins the count anew, a denial does not', async () => {
    for (let i = 0; i < 4; i++) await cancel(await asked())
    clock.tick(second)
    dataOf(await decide(service, await asked(), ada.key))
    clock.tick(second)
    for (let i = 0; i < 4; i++) await cancel(await asked())
    dataOf(await decide(service, await asked(), ada.key, { decision: 'deny' }))
    expect(limitOf(await ask(service, ada, {}, acme.key))).toEqual([429, 'too_many_rings', '600'])
  })

  test('500 requests at once ring three times', async () => {
    const answers = await Promise.all(Array.from({ length: 500 }, () => ask(service, ada, {}, acme.key)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(497)
    expect(service.rung).toHaveLength(3)
  })

  test('another approver and another organization have their own count', async () => {
    for (let i = 0; i < 3; i++) await asked()
    const bob = await createApprover(service, acme.id, 2)
    expect((await ask(service, bob, {}, acme.key)).status).toBe(200)
    const other = await createTenant(service, 'other')
    await createApprover(service, other.id, 1)
    expect((await ask(service, ada, {}, other.key)).status).toBe(200)
  })
})

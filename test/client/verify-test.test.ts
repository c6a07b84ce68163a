import { describe, expect, test } from 'vitest'
import { createVerifyCalls } from '../../src/client/verify-calls.ts'
import { testVerify } from '../../src/client/verify-test.ts'
import { json, page, type Answering } from '../fake-hosted.ts'
import { failure, withHosted } from './hosted.ts'

const yes = json(200, { status: 'success', message: 'OK' })
const no = (status: number, body: object = {}): Answering => json(status, { status: 'error', ...body })
const pending = no(409)

/** The responses in order, the last one forever. Waits only move the clock. */
const begin = async (answers: Answering[], verify: Answering = yes) => {
  const { client, service } = await withHosted()
  let at = 0
  service.always((request, response) => {
    if (request.path.endsWith('/verify-user')) return verify(request, response)
    return (answers.length > 1 ? answers.shift()! : answers[0]!)(request, response)
  })
  const outcome = testVerify({
    calls: createVerifyCalls(client),
    mobile: '+12025550101',
    phone: { country_code: '+1', mobile: '2025550101' },
    signal: new AbortController().signal,
    now: () => new Date(at),
    sleep: async (ms) => void (at += ms),
  })
  return { outcome, passed: () => at }
}

describe('a test of /verify-user with a person who does not answer', () => {
  test('proves a service that reports no success until the prompt expires', async () => {
    const { outcome } = await begin([pending, pending, pending, no(410)])
    expect(await outcome).toEqual({ passed: true, answers: 4 })
  })

  test('continues for the longest lifetime of a prompt if the service reports no end', async () => {
    const { outcome, passed } = await begin([pending])
    expect(await outcome).toMatchObject({ passed: true })
    expect(passed()).toBeGreaterThan(600_000)
  })

  test.each([
    ['at once', [yes]],
    ['after a while', [pending, pending, pending, pending, yes]],
    ['after the end', [pending, pending, pending, no(410), yes]],
  ])('proves nothing if the service reports success %s', async (_, answers) => {
    const { outcome } = await begin(answers)
    expect(await outcome).toMatchObject({ passed: false, why: expect.stringContaining('success') })
  })

  test.each([
    ['denied', [pending, no(403)], 'denied'],
    ['an unreadable response', [pending, page()], 'cannot read'],
    ['too few responses', [pending, no(410)], '2 answers, but 3 are required'],
    ['only errors', [no(503), no(503), no(503), no(410)], '1 answers'],
  ])('proves nothing if the service sends %s', async (_, answers, why) => {
    const { outcome } = await begin(answers)
    expect(await outcome).toEqual({ passed: false, why: expect.stringContaining(why) })
  })

  test('fails if no prompt was sent', async () => {
    const { outcome } = await begin([pending], no(404, { message: 'No such user' }))
    expect((await failure(outcome)).message).toBe('No one was notified: No such user')
  })
})

import { describe, expect, test } from 'vitest'
import { createVerifyCalls } from '../../src/client/verify-calls.ts'
import { testVerify } from '../../src/client/verify-test.ts'
import { json, page, type Answering } from '../fake-hosted.ts'
import { failure, withHosted } from './hosted.ts'

const yes = json(200, { status: 'success', message: 'OK' })
const no = (status: number, body: object = {}): Answering => json(status, { status: 'error', ...body })
const pending = no(409)

/** The answers in their order, and the last one for ever. Waits move the clock and nothing else. */
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
    expect(await outcome).toEqual({ proved: true, answers: 4 })
  })

  test('goes on for as long as a prompt may stand where the service reports no end', async () => {
    const { outcome, passed } = await begin([pending])
    expect(await outcome).toMatchObject({ proved: true })
    expect(passed()).toBeGreaterThan(600_000)
  })

  test.each([
    ['at once', [yes]],
    ['after a while', [pending, pending, pending, pending, yes]],
    ['after the end', [pending, pending, pending, no(410), yes]],
  ])('proves nothing where the service reports success %s', async (_, answers) => {
    const { outcome } = await begin(answers)
    expect(await outcome).toMatchObject({ proved: false, why: expect.stringContaining('success') })
  })

  test.each([
    ['denied', [pending, no(403)], 'denied'],
    ['what svc cannot read', [pending, page()], 'cannot read'],
    ['too little', [pending, no(410)], '2 answers, and 3 are needed'],
    ['only that it is unwell', [no(503), no(503), no(503), no(410)], '1 answers'],
  ])('proves nothing where the service says %s', async (_, answers, why) => {
    const { outcome } = await begin(answers)
    expect(await outcome).toEqual({ proved: false, why: expect.stringContaining(why) })
  })

  test('fails where no phone was rung', async () => {
    const { outcome } = await begin([pending], no(404, { message: 'No such user' }))
    expect((await failure(outcome)).message).toBe('The phone was not rung: No such user')
  })
})

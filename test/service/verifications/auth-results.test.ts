import { describe, expect, test } from 'vitest'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { show } from '../approver.ts'
import { minute } from '../clock.ts'
import { auditOf, dataOf, refusal, refusedWithoutTrace } from '../fixtures.ts'
import {
  approve,
  brief,
  deny,
  policy,
  results,
  type Row,
  save,
  started,
  token,
  validate,
} from './verification.ts'

installHooks()

describe('POST /biometric-geo-fence-auth-results', () => {
  test('passes if the phone approved and the caller agrees, and uses up the verification', async () => {
    const request_id = await started()
    await approve(request_id)
    const answer = await results()
    expect([answer.body.status, answer.body.message]).toEqual(['success', 'Passed'])
    const data = dataOf(answer)
    expect(data).toEqual({
      user_id: ada.id,
      request_id,
      decision: 'PASS',
      source: 'service',
      factors: expect.anything(),
    })
    expect(brief(data.factors)).toEqual([
      ['decision', 'required', 'PASS', 'service'],
      ['biometric', 'required', 'PASS', 'service'],
      ['location', 'required', 'PASS', 'caller'],
      ['time', null, 'NOT_APPLICABLE', 'service'],
      ['device', 'required', 'PASS', 'service'],
      ['ip', null, 'NOT_APPLICABLE', 'service'],
    ])
    expect(refusal(await results())).toEqual([410, 'spent', []])
    expect(refusal(await validate())).toEqual([410, 'spent', []])
  })

  test('relies on the claim of the caller, and says so, if no phone was asked', async () => {
    const { auth_token } = dataOf(await token())
    const data = dataOf(await results())
    expect([data.decision, data.source]).toEqual(['PASS', 'caller'])
    expect(brief(data.factors).slice(0, 2)).toEqual([
      ['biometric', 'required', 'PASS', 'caller'],
      ['location', 'required', 'PASS', 'caller'],
    ])
    expect(refusal(await save(auth_token))).toEqual([410, 'spent', []])
    expect((await auditOf(service, acme.id)).at(-1)).toMatchObject([
      'submitAuthResults',
      expect.anything(),
      ['spent_at', 'success', 'source: caller'],
    ])
  })

  test.each([
    ['is not there', "erased_at = '2030-01-01T00:00:00.000Z'"],
    ['is not answered', "status = 'pending', ended_at = NULL, detail = NULL"],
  ])('does not pass because another program wrote that the denial of the person %s', async (_, change) => {
    await deny(await started())
    await service.runSql(`UPDATE approvals SET ${change}`)
    expect(refusal(await results())).toEqual([410, 'expired', []])
  })

  test.each([
    ['the biometric check', { biometric_result: 'FAIL' }, 'biometric: the caller reports FAIL'],
    ['the place', { geo_fence_result: 'FAIL' }, 'location: the caller reports FAIL'],
  ])('denies for %s, which uses up the verification', async (_, more, why) => {
    await approve(await started())
    const answer = await results(more)
    expect([answer.body.status, ...refusal(answer)]).toEqual(['error', 403, 'denied', []])
    expect(answer.body.message).toBe(`Denied: ${why}`)
    expect(answer.body.data).toMatchObject({ decision: 'FAIL', source: 'service' })
    expect(answer.body.data.factors.find((row: Row) => row.result === 'FAIL').reason).toBe(
      why.slice(why.indexOf(':') + 2),
    )
    expect(refusal(await results())).toEqual([410, 'spent', []])
    expect(refusal(await validate())).toEqual([410, 'spent', []])
  })

  test('ignores a PASS if the person denied', async () => {
    await deny(await started())
    const answer = await results()
    expect(refusal(answer)).toEqual([403, 'denied', []])
    expect(answer.body.message).toBe('Denied: decision: the person denied on the phone')
    expect(refusal(await results())).toEqual([410, 'spent', []])
  })

  test.each([
    ['PASS', 200, 'success'],
    ['FAIL', 403, 'error'],
  ])(
    'decides by a %s of the app before the person has answered, and nothing signed comes of it',
    async (result, status, word) => {
      const request_id = await started()
      const answer = await results({ biometric_result: result })
      expect([answer.status, answer.body.status]).toEqual([status, word])
      expect(answer.body.data).toMatchObject({ decision: result, source: 'caller' })
      expect(brief(answer.body.data.factors)[0]).toEqual(['biometric', 'required', result, 'caller'])
      // The prompt ends, so that nobody can approve what a caller has decided.
      expect(dataOf(await show(service, request_id))).toMatchObject({
        status: 'expired',
        detail: 'replaced by submitted results',
        attestation: null,
      })
      await expect(approve(request_id)).rejects.toThrow(/^410 /)
      expect(refusal(await validate())).toEqual([410, 'spent', []])
    },
  )

  test('waits for the person if the policy requires a number, which only they can type', async () => {
    await policy({ require_number: true })
    await started()
    expect(await refusedWithoutTrace(service, () => results())).toEqual([409, 'pending', []])
  })

  test('answers expired if the person did not answer in time', async () => {
    await started()
    clock.tick(5 * minute)
    expect(refusal(await results())).toEqual([410, 'expired', []])
  })

  test('counts one of many concurrent results', async () => {
    await approve(await started())
    const answers = await Promise.all([...Array.from({ length: 4 }, () => results()), validate(), validate()])
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 410)).toHaveLength(5)
  })
})

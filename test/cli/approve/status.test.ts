import { describe, expect, test } from 'vitest'
import type { ApprovalRecord } from '../../../src/contract/approval.ts'
import { json } from '../../fake-hosted.ts'
import { installHooks, run, service } from '../other-service.ts'
import { record } from './records.ts'

installHooks()

const ruling = (['PASS', 'FAIL'] as const).map((result, i) => ({
  factor: ['biometric', 'location'][i]!,
  policy: 'required' as const,
  result,
  reason: `because of ${result}`,
  expected: null,
  observed: null,
}))
const refused: Partial<ApprovalRecord> = {
  status: 'denied',
  detail: 'refused by the rules: location: because of FAIL',
  decided_at: '2026-01-01T00:00:10.000Z',
  ruling,
}

const approve = (answer: Partial<ApprovalRecord>, args: string[]) => {
  service.always(json(200, { status: 'success', message: 'Approval', data: record(answer) }))
  return run(['approve', ...args])
}
const table =
  /\n\nFACTOR +POLICY +RESULT +REASON\nbiometric +required +PASS +because of PASS\nlocation +required +FAIL +because of FAIL\n$/

describe('a request that the rules denied', () => {
  test.each([
    ['status', 0],
    ['wait', 6],
  ])('is shown with the result of each rule: %s', async (word, exit) => {
    const shown = await approve(refused, [word, 'apr_1', '-o', 'table'])
    expect(shown.exit).toBe(exit)
    expect(shown.out).toMatch(table)
  })

  test('stays one record in machine formats', async () => {
    expect(JSON.parse((await approve(refused, ['status', 'apr_1', '-o', 'json'])).out).ruling).toEqual(ruling)
    expect((await approve(refused, ['status', 'apr_1', '-o', 'tsv'])).out).not.toContain('FACTOR')
  })
})

test('a denial by the person shows no rules', async () => {
  const denied = { ...refused, attestation: { format: 'jws', jws: '', kid: '', claims: {} } as const }
  expect((await approve(denied, ['status', 'apr_1', '-o', 'table'])).out).not.toContain('FACTOR')
})

test('a list and a wait say whose approval the rules refused, and not that they denied it', async () => {
  const people = [person('Amal', 'denied'), person('Yuki', 'pending')]
  const answer = { ...refused, lines: [{ group: 'sre', need: 1, rules: [], people }] }
  service.always(json(200, { status: 'success', message: 'Approvals', data: [record(answer)] }))
  const { out } = await run(['approve', 'list', '-o', 'table'], { columns: 200 })
  expect(out).toContain('@sre: Amal refused by the rules')
  const { err } = await approve(answer, ['wait', 'apr_1'])
  expect(err).toContain('Refused after the approval of Amal (apr_1): refused by the rules: location')
})

describe('a request with a subject', () => {
  const subject = {
    type: 'request' as const,
    data: {},
    digest: 'a'.repeat(64),
    summary: 'Update geofence: HQ',
    fields: [
      { label: 'Operation', value: 'updateGeofence' },
      { label: 'radius', value: '300', before: '150' },
    ],
  }

  test('is shown with exactly what is approved', async () => {
    const { out } = await approve({ action: 'Tidy up', subject }, ['status', 'apr_1', '-o', 'table'])
    expect(out).toMatch(/\n\nHeadline +Update geofence: HQ\nOperation +updateGeofence\nradius +150 -> 300\n$/)
  })

  test('is listed by what the approver reads, and without its deadline once it is decided', async () => {
    const pending = record({ action: 'Tidy up', subject })
    const list = [
      pending,
      { ...pending, request_id: 'apr_2', status: 'approved' },
      record({ action: 'Sing' }),
    ]
    service.always(json(200, { status: 'success', message: 'Approvals', data: list }))
    const table = (await run(['approve', 'list', '-o', 'table'])).out
    const cells = table.split('\n').map((line) => line.split(/ {2,}/))
    expect(cells.slice(1, 4).map((row) => [row[3], row[8]])).toEqual([
      ['Update geofence: HQ', '2026-01-01T00:01:00.000Z'],
      ['Update geofence: HQ', '-'],
      ['Sing', '2026-01-01T00:01:00.000Z'],
    ])
    expect((await run(['approve', 'list', '-o', 'csv'])).out).toContain('Tidy up')
  })

  test('shows nothing below its action if that is all there is', async () => {
    const text = { ...subject, type: 'text' as const, summary: 'Deploy 4.2', fields: [] }
    expect((await approve({ subject: text }, ['status', 'apr_1', '-o', 'table'])).out).not.toContain(
      'Headline',
    )
    const differs = { ...text, summary: 'Pay 9,000' }
    expect((await approve({ subject: differs }, ['status', 'apr_1', '-o', 'table'])).out).toContain(
      'Pay 9,000',
    )
  })
})

const person = (name: string, answer: 'approved' | 'denied' | 'pending') => ({
  user_id: name,
  name,
  mobile: '+1••••••0102',
  answer,
  answered_at: null,
})

describe('who answered', () => {
  const lines = [
    { group: 'dba', need: 2, rules: ['r'], people: [person('Ada', 'pending'), person('Grace', 'approved')] },
    { group: null, need: 1, rules: [], people: [person('Sue', 'approved')] },
  ]
  const glass = { reason: 'prod down', skipped: ['1'], told: ['1', '5'] }
  const broken: Partial<ApprovalRecord> = { status: 'approved', lines, break_glass: glass }

  test.each([['status'], ['wait'], ['withdraw']])('is in the table of %s', async (word) => {
    const shown = await approve({ status: 'denied', lines }, [word, 'apr_1', '-o', 'table'])
    expect(shown.out).toMatch(/^lines +2 of @dba and Sue: Grace approved, Sue approved$/m)
    expect(shown.out).not.toContain('approver_mobile')
  })

  test('is in the list, with what became of an emergency', async () => {
    const by = { by: '4', verdict: 'disputed', at: '2026-01-01T00:00:00.000Z' } as const
    const records = [broken, { ...broken, break_glass: { ...glass, review: by } }, {}].map(record)
    service.always(json(200, { status: 'success', message: 'Approvals', data: records }))
    const { out } = await run(['approve', 'list', '-o', 'table'])
    expect(out).toMatch(/Grace approved, Sue approved +not reviewed/)
    expect(out).toMatch(/Grace approved, Sue approved +reviewed: disputed/)
  })

  test('is in the past where nobody was asked', async () => {
    const used: Partial<ApprovalRecord> = { lines: lines.slice(1), granted_by: 'apr_0', grant_use: 2 }
    const shown = await approve({ ...used, status: 'approved' }, ['status', 'apr_1', '-o', 'table'])
    expect(shown.out).toMatch(/^lines +earlier: Sue: approved$/m)
  })

  test('an emergency that nobody has reviewed names the command', async () => {
    const next =
      'Break-glass, and not reviewed yet. One of the people whom it skipped does that: svc approve review apr_1 --ok, or --dispute --note WHY'
    expect((await approve(broken, ['status', 'apr_1', '-o', 'table'])).err).toContain(next)
    expect((await approve({ ...broken, status: 'denied' }, ['status', 'apr_1'])).err).not.toContain(next)
  })
})

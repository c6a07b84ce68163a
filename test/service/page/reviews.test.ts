import { beforeEach, expect, test } from 'vitest'
import { decide } from '../approver.ts'
import {
  ada,
  asks,
  bob,
  breakGlass,
  carol,
  dave,
  grace,
  installHooks,
  service,
} from '../approvals/break-glass-stage.ts'
import { auditOf, dataOf, refusal } from '../fixtures.ts'
import { acme } from '../mcp/oauth-stage.ts'
import { answerTo, fromPhone, type Phone } from './phone.ts'

installHooks()

let id: string
beforeEach(async () => {
  id = dataOf(await breakGlass()).request_id
})

const approve = async (): Promise<void> => void dataOf(await decide(service, id, dave.key))
const sessionOf = async ({ cookie }: Phone, query = '') => {
  const { mark, sessions } = dataOf(await fromPhone(service, 'GET', `sessions${query}`, { cookie }))
  return { mark: mark as string, waiting: sessions[0].waiting_reviews as string[] }
}
/** What its page gets once it is woken, long before it would look by itself. */
const wokenAfter = async (phone: Phone, mark: string, work: () => Promise<unknown>) => {
  const begun = Date.now()
  const woken = sessionOf(phone, `?wait_s=30&seen=${mark}`)
  await work()
  const session = await woken
  expect(Date.now() - begun).toBeLessThan(25_000)
  return session
}
const decision = async ({ cookie }: Phone) =>
  dataOf(await fromPhone(service, 'GET', `decisions/${id}`, { cookie }))

/** Says at the page, with the device of the session, what somebody else than the requester says of it. */
const review = async ({ cookie, key }: Phone, said: object, signed = said) => {
  const path = `requests/${id}/review`
  const { challenge } = dataOf(await fromPhone(service, 'POST', `${path}/challenge`, { cookie, body: said }))
  const body = { ...signed, challenge, response: answerTo(challenge, key) }
  return fromPhone(service, 'POST', path, { cookie, body })
}

test('a page of a person who was told is woken by what becomes of it, and asks for a review', async () => {
  const before = await sessionOf(carol)
  expect(before.waiting).toEqual([])
  const after = await wokenAfter(carol, before.mark, approve)
  expect(after.waiting).toEqual([id])
  expect((await wokenAfter(carol, after.mark, () => review(bob, { ok: true }))).waiting).toEqual([])
})

test('it is woken by a withdrawal, too, of which nothing is to be reviewed', async () => {
  const before = await sessionOf(grace)
  const after = await wokenAfter(grace, before.mark, () =>
    service.call('POST', `/svc/v1/approvals/${id}/withdraw`, { key: asks, body: {} }),
  )
  expect(after.mark).not.toBe(before.mark)
  expect((await decision(grace)).status).toBe('expired')
  expect((await sessionOf(carol)).waiting).toEqual([])
})

test.each([
  ['ok', { ok: true }, { verdict: 'ok' }],
  [
    'disputed',
    { dispute: true, note: 'It could have waited' },
    { verdict: 'disputed', note: 'It could have waited' },
  ],
])(
  'a skipped person says at the page that it was %s, and the others read who said so',
  async (verdict, said, kept) => {
    await approve()
    expect((await decision(carol)).can_review).toBe(true)
    dataOf(await review(carol, said))
    const { can_review, break_glass } = await decision(bob)
    expect(can_review).toBeUndefined()
    expect(break_glass.review).toMatchObject({ by: expect.stringContaining(`(user ${carol.user})`), ...kept })
    expect(refusal(await review(bob, { ok: true }))).toEqual([409, 'already_reviewed', []])
    const row = (await auditOf(service, acme.id)).find(([action]) => action === 'signReview')
    expect(row![2]).toEqual(expect.arrayContaining(['review', verdict]))
  },
)

test('nobody else can, nor before it is approved, nor with what was not signed', async () => {
  expect(refusal(await review(carol, { ok: true }))).toEqual([409, 'nothing_to_review', []])
  await approve()
  for (const [phone, status, code] of [
    [dave, 403, 'not_your_review'],
    [ada, 403, 'not_your_review'],
    [grace, 403, 'not_your_review'],
  ] as const) {
    expect((await decision(phone)).can_review).toBeUndefined()
    expect(refusal(await review(phone, { ok: true }))).toEqual([status, code, []])
  }
  expect(refusal(await review(carol, { dispute: true }))).toEqual([422, 'invalid_field', ['note']])
  expect(refusal(await review(carol, { ok: true }, { dispute: true, note: 'no' }))).toEqual([
    410,
    'challenge_over',
    [],
  ])
  expect((await decision(carol)).break_glass.review).toBeUndefined()
})

import { decodeProtectedHeader } from 'jose'
import { describe, expect, test } from 'vitest'
import { sha256 } from '../../src/core/ids.ts'
import { verifyApproval } from '../../src/receipt/approval.ts'
import type { Expectations } from '../../src/receipt/expectations.ts'
import { sentence } from '../../src/receipt/sentence.ts'
import { verifyReceipt } from '../../src/receipt/verify.ts'
import {
  answerOf,
  ada,
  completedAt,
  excluded,
  genuineSet,
  grace,
  joan,
  katherine,
  ofOrigin,
  question,
  setOf,
} from './set-specimen.ts'
import { createIssuer, decidedAt, now, ours } from './specimen.ts'

const issuer = await createIssuer()
const set = await genuineSet(issuer)

const verify = (value: unknown, wanted: Expectations = {}) =>
  verifyReceipt(value, issuer.jwks, { ...ours, ...wanted }, now)
const failed = async (value: unknown, wanted: Expectations = {}) =>
  (await verify(value, wanted)).checks.filter(({ ok }) => !ok).map(({ part, name }) => [part, name])

const bare = ({ format, jws, kid }: { format: 'jws'; jws: string; kid: string }) => ({ format, jws, kid })

describe('the receipts of several people', () => {
  test('are completed by the service, which names each of them', () => {
    expect(decodeProtectedHeader(set.completion.jws)).toEqual({
      alg: 'EdDSA',
      typ: 'approval-completion+jwt',
      kid: issuer.kid,
    })
    expect(set.completion.claims).toEqual({
      iss: 'https://approve.example.com',
      iat: Math.floor(completedAt.getTime() / 1000),
      jti: question.request_id,
      organization: question.organization,
      subject: question.subject,
      lines: question.lines,
      rules: question.rules,
      ballots: set.receipts.map(({ jws }, at) => ({ user_id: ['5', '9', '30'][at], receipt: sha256(jws) })),
      assignment: [['9', '5'], ['30']],
      excluded,
    })
  })

  test('are an approval, as an object and as text', async () => {
    for (const value of [set, JSON.stringify(set, null, 2)]) {
      const { checks, ...verdict } = await verify(value)
      expect(checks.filter(({ ok }) => !ok)).toEqual([])
      expect(verdict).toMatchObject({
        valid: true,
        receipts: set.receipts.map(({ claims }) => claims),
        completion: set.completion.claims,
        headline: question.action,
      })
    }
    expect(verifyApproval(JSON.stringify(set), issuer.jwks)?.receipts).toHaveLength(3)
  })

  test('may lack the claims, as in the result of a tool', async () => {
    const short = { format: 'set', receipts: set.receipts.map(bare), completion: bare(set.completion) }
    expect(await failed(short)).toEqual([])
  })

  test('are no approval each alone', async () => {
    for (const receipt of set.receipts) expect(await failed(receipt)).toEqual([[undefined, 'alone']])
    const { checks } = await verify(set.receipts[0])
    expect(checks.find(({ name }) => name === 'alone')?.detail).toBe('one of 3: not an approval alone')
  })

  test('are not completed before they satisfy every line', async () => {
    const receipts = set.receipts.slice(0, 2)
    await expect(setOf(issuer, receipts)).rejects.toThrow('do not satisfy every line')
    const own = await answerOf(issuer, grace, {}, ofOrigin('self'))
    await expect(setOf(issuer, [set.receipts[0]!, own, set.receipts[2]!])).rejects.toThrow(TypeError)
  })

  test('give way to each other between lines', async () => {
    const people = [joan, ada, grace]
    const receipts = await Promise.all(people.map((one) => answerOf(issuer, one)))
    const moved = await setOf(issuer, receipts)
    expect(moved.completion.claims.assignment).toEqual([['9', '5'], ['12']])
    expect(await failed(moved)).toEqual([])
  })

  test('are completed when the last of them was made, by whichever clock is ahead', async () => {
    const early = await setOf(issuer, set.receipts, { completedAt: new Date(decidedAt.getTime() - 3_000) })
    expect(early.completion.claims.iat).toBe(Math.floor(decidedAt.getTime() / 1000))
    expect(await failed(early)).toEqual([])
  })

  test('read as what several people decided', async () => {
    const verdict = await verify(set)
    expect(sentence(verdict)).toBe(
      'Valid: 3 people (2 of @sre, 1 of those named) approved "Deploy 4.2 to production ✓" at 2030-01-31T12:00:43Z: +12025550105, +12025550109, +12025550130',
    )
    expect(verdict.facts).toContain('Receipt 2: The name of the approver is "Grace Hopper"')
    expect(verdict.on_service_word).toContain('who was left out, and why')
  })

  test('warn of a person with the name of another', async () => {
    const twin = await answerOf(issuer, grace, { approver: { ...grace.approver, twin: true } })
    const { valid, facts } = await verify(await setOf(issuer, [set.receipts[0]!, twin, set.receipts[2]!]))
    expect(valid).toBe(true)
    expect(facts).toContain(
      'Receipt 2: Another active member had the same name as the approver, or one that looks like it',
    )
  })
})

describe('the expected people of a set', () => {
  const { approver } = grace
  const keyOf = { ada: ada.key.public_key_cose, grace: grace.key.public_key_cose }
  test.each<[string, Expectations]>([
    ['one of them', { approver: approver.mobile }],
    ['one of them with a pinned key', { approver: approver.mobile, pinnedKey: keyOf.grace }],
    ['at least as many', { need: 3 }],
    ['a group', { lines: [{ group: 'sre', need: 2 }] }],
    ['numbers', { lines: [{ people: [katherine.approver.mobile, joan.approver.mobile], need: 1 }] }],
    ['a passkey of each', { need: 2, passkeys: { [approver.mobile]: [keyOf.ada, keyOf.grace] } }],
  ])('match: %s', async (_, wanted) => {
    expect(await failed(set, wanted)).toEqual([])
  })

  test.each<[string, string, Expectations]>([
    ['somebody else', 'expected approver', { approver: joan.approver.mobile }],
    ['the key of another person', 'pinned key', { approver: approver.mobile, pinnedKey: keyOf.ada }],
    ['more people', 'expected people', { need: 4 }],
    ['no number of people', 'expected people', { need: NaN }],
    ['another group', 'expected lines', { lines: [{ group: 'dba', need: 1 }] }],
    ['more of the group', 'expected lines', { lines: [{ group: 'sre', need: 3 }] }],
    [
      'one person for two lines',
      'expected lines',
      {
        lines: [
          { people: [approver.mobile], need: 1 },
          { people: [approver.mobile], need: 1 },
        ],
      },
    ],
    ['another passkey', 'expected people', { need: 3, passkeys: { [approver.mobile]: [keyOf.ada] } }],
    ['no passkey', 'expected people', { need: 3, passkeys: { [approver.mobile]: [] } }],
  ])('do not match: %s', async (_, name, wanted) => {
    expect(await failed(set, wanted)).toEqual([[undefined, name]])
  })

  test('each decided recently, and approved', async () => {
    const old = ['receipt 1', 'receipt 2', 'receipt 3'].map((part) => [part, 'age'])
    expect(await failed(set, { maxAgeS: 60 })).toEqual(old)
    expect(await failed(set, { status: 'denied' })).toEqual(old.map(([part]) => [part, 'expected status']))
  })
})

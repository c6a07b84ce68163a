import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { challengeOf, contextBytes, readContext } from '../../src/receipt/context.ts'
import { approval } from './specimen.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = Buffer.from(contextBytes(approval)).toString()
const changed = (change: Record<string, unknown>) => ({ ...approval, ...change }) as typeof approval

describe('an approval context', () => {
  test('has the bytes of RFC 8785', () => {
    expect(text).toBe(
      '{"action":"Deploy 4.2 to production ✓","approver":{"mobile":"+12025550101","name":"Ada Lovelace","twin":false,"user_id":"5"},"decision":"approve",' +
        '"factors":["biometric","location"],"format":1,"key":{"id":"3","name":"ci","scopes":["ask"]},' +
        '"lines":[{"group":null,"need":1,"people":["5"],"rules":[],"separated":false}],"nonce":"AAECAwQFBgcICQoLDA0ODw","organization":{"id":"7","slug":"acme"},"reason":"release day",' +
        '"request_expires_at":"2030-01-31T12:02:00.000Z","request_id":"apr_3vQ1kZ",' +
        '"requested_at":"2030-01-31T12:00:00.000Z","requester":"ci@acme","rules":[],' +
        `"subject":{"digest":"${approval.subject.digest}","type":"text"},"type":"approval"}`,
    )
  })

  test('is read as it was written', () => {
    expect(readContext(contextBytes(approval))).toEqual(approval)
    expect(readContext(contextBytes(changed({ reason: null, factors: [] })))).toMatchObject({ reason: null })
  })

  test('contains the note of a denial between the nonce and the organization', () => {
    const denial = changed({ decision: 'deny', note: 'Not "now" ✓' })
    const bytes = contextBytes(denial)
    expect(Buffer.from(bytes).toString()).toContain('DA0ODw","note":"Not \\"now\\" ✓","organization":')
    expect(readContext(bytes)).toEqual(denial)
  })

  test.each([
    ['in an approval', { note: 'Fine' }, 'only a denial has a note'],
    ['without text', { decision: 'deny', note: '' }, 'note: is empty'],
    ['of 281 characters', { decision: 'deny', note: 'x'.repeat(281) }, 'note: has more than 280 characters'],
    ['on two lines', { decision: 'deny', note: 'a\nb' }, 'note: is not one line'],
    [
      'with a right-to-left override',
      { decision: 'deny', note: 'a\u202eb' },
      'note: contains an invisible character',
    ],
    [
      'with half a surrogate pair',
      { decision: 'deny', note: '\ud83d' },
      'note: contains an invisible character',
    ],
  ])('is not created with a note %s', (_, change, problem) => {
    expect(() => contextBytes(changed(change))).toThrow(problem)
  })

  test('has the SHA-256 of its bytes as the challenge', () => {
    expect(challengeOf(bytesOf(text))).toBe(createHash('sha256').update(text).digest('base64url'))
  })

  test('has different challenges for deny and approve', () => {
    const deny = contextBytes(changed({ decision: 'deny' }))
    expect(challengeOf(deny)).not.toBe(challengeOf(contextBytes(approval)))
  })

  test.each([
    ['white space', text.replace('{"', '{ "')],
    ['a trailing newline', `${text}\n`],
    ['a byte order mark', `\uFEFF${text}`],
    ['another order', `{"type":"approval",${text.slice(1).replace(',"type":"approval"', '')}`],
    ['an unnecessary escape', text.replace('Deploy', '\\u0044eploy')],
    ['a duplicate member', text.replace('{', '{"action":"Deploy 4.2 to production ✓",')],
    ['an extra member', text.replace('{', '{"aaa":1,')],
    ['a missing member', text.replace('"reason":"release day",', '')],
    ['another type', text.replace('"type":"approval"', '"type":"payment"')],
    ['a wrong type', text.replace('"release day"', '7')],
    ['an unknown decision', text.replace('"approve"', '"maybe"')],
    ['an approver that is not E.164', text.replace('+12025550101', '12025550101')],
    ['an empty action', text.replace('Deploy 4.2 to production ✓', '')],
    ['half a surrogate pair', text.replace('✓', '\\ud83d')],
    ['a time without milliseconds', text.replace('12:00:00.000Z', '12:00:00Z')],
    ['an impossible date', text.replaceAll('2030-01-31', '2030-02-31')],
    ['an end before the start', text.replace('12:02:00', '11:02:00')],
    ['a duplicate factor', text.replace('"location"', '"biometric"')],
    ['a short nonce', text.replace('AAECAwQFBgcICQoLDA0ODw', 'AAEC')],
    ['another format', text.replace('"format":1', '"format":2')],
    ['no format', text.replace('"format":1,', '')],
    ['no organization', text.replace('"organization":{"id":"7","slug":"acme"},', '')],
    ['an organization without an ID', text.replace('"id":"7",', '')],
    ['a duplicate scope', text.replace('["ask"]', '["ask","ask"]')],
    ['an invalid digest', text.replace(approval.subject.digest, 'abc')],
    ['an approver without an id', text.replace(',"user_id":"5"', '')],
    ['an approver whom no line asks', text.replace('"people":["5"]', '"people":["6"]')],
    ['no lines', text.replace(/"lines":\[.*?\],"nonce"/, '"lines":[],"nonce"')],
    ['a line without people', text.replace('"people":["5"]', '"people":[]')],
    ['a person twice in a line', text.replace('["5"]', '["5","5"]')],
    ['people in another order than that of their ids', text.replace('["5"]', '["10","5"]')],
    ['a line that needs more people than it has', text.replace('"need":1', '"need":2')],
    ['a line that needs nobody', text.replace('"need":1', '"need":0')],
    ['a group without an id', text.replace('"group":null', '"group":{"name":"sre"}')],
    [
      'a rule without its digest',
      text.replace('"rules":[],"subject"', '"rules":[{"name":"destroy"}],"subject"'),
    ],
    ['an unknown basis', text.replace('"decision"', '"basis":"habit","decision"')],
    ['no object', 'null'],
    ['nothing', ''],
  ])('is not read with %s', (_, bad) => {
    expect(bad).not.toBe(text)
    expect(() => readContext(bytesOf(bad))).toThrow(Error)
  })

  test('is not read from invalid UTF-8', () => {
    expect(() => readContext(new Uint8Array([0x7b, 0xff, 0x7d]))).toThrow(TypeError)
  })

  test('is not created from what it would not read', () => {
    expect(() => contextBytes(changed({ approver: { ...approval.approver, mobile: 'bob' } }))).toThrow(
      'approver.mobile: is not E.164',
    )
    expect(() => contextBytes(changed({ action: '\ud83d' }))).toThrow(
      'action: contains an unpaired surrogate',
    )
    expect(() => contextBytes(changed({ extra: 1 }))).toThrow(TypeError)
  })
})

import { hintOf } from '../../../src/cli/approve/receipt-check.ts'
import { describe, expect, test } from 'vitest'
import { approval } from '../../receipt/specimen.ts'
import { installFiles, key, offline, ours, verify } from './receipt-files.ts'

installFiles()
const lines = (...all: string[]) => all.flatMap((one) => ['--approver', one])

describe('svc approve verify', () => {
  test.each(['receipt.json', 'bare.jws', 'status.json'])('accepts %s', async (file) => {
    const { exit, out, err } = await offline(file)
    expect(err).toMatch(/^Valid: \+1••••••0101 approved "Deploy 4\.2 to production ✓"/)
    expect(out).toBe('')
    expect(exit).toBe(0)
  })
  test.each([
    ['--action', approval.action],
    ['--approver', approval.approver.mobile],
    ['--requester', approval.requester],
    ['--factors', 'biometric,location'],
    ['--max-age', '15m'],
    ['--max-age', '600'],
    ['--pinned-key', key.public_key_cose],
  ])('accepts a receipt that matches %s', async (flag, value) => {
    expect((await offline('receipt.json', flag, value)).exit).toBe(0)
  })
  test.each([
    ['--action', 'Deploy 4.2 to production'],
    ['--approver', '+12025550102'],
    ['--requester', 'ci'],
    ['--status', 'denied'],
    ['--factors', 'time'],
    ['--max-age', '5m'],
    ['--max-age', '0'],
    ['--pinned-key', 'pQECAyYg'],
  ])('rejects a receipt that does not match %s %s', async (flag, value) => {
    const { exit, err } = await offline('receipt.json', flag, value)
    expect(err).toMatch(/^Not valid: /)
    expect(exit).toBe(1)
  })
  test.each([
    ['receipt.json', ['--subject', 'subject.json'], 0],
    ['receipt.json', ['--subject', 'record-subject.json'], 0],
    ['receipt.json', ['--subject', 'other-subject.json'], 1],
    ['receipt.json', ['--digest', approval.subject.digest], 0],
    ['receipt.json', ['--digest', 'a'.repeat(64)], 1],
    ['receipt.json', ['--org', 'globex'], 1],
    ['receipt.json', ['--org', '7'], 0],
    ['receipt.json', ['--issuer', 'https://other.example.com'], 1],
    ['influential.json', [], 1],
    ['influential.json', ['--allow-unseparated'], 0],
    ['influential.json', ['--allow-dev'], 0],
    ['creator.json', [], 0],
    ['creator.json', ['--separation', 'standard'], 0],
    ['creator.json', ['--separation', 'strict'], 1],
    ['unknown.json', [], 1],
    ['unknown.json', ['--allow-unseparated'], 0],
    ['unknown.json', ['--allow-unseparated', '--separation', 'strict'], 1],
    ['self.json', ['--allow-unseparated', '--allow-dev'], 1],
    ['local.json', [], 1],
    ['local.json', ['--allow-unauthenticated'], 0],
  ])('exits for %s with %j as documented: %i', async (file, flags, exit) => {
    expect((await offline(file, ...flags)).exit).toBe(exit)
  })
  test.each([[[]], [['-o', 'table']], [['-o', 'csv']]])(
    'prints the facts through a pipe, with %j',
    async (flags) => {
      const { exit, out, err } = await offline('creator.json', ...flags)
      expect(exit).toBe(0)
      expect(err).toMatch(
        /^Valid: .*\nThe approver is user 5, mobile \+1••••••0101\nThe name of the approver is "Ada Lovelace"\n/,
      )
      expect(err).toContain('The origin of the device is a key that created the requesting key')
      expect(err).toMatch(/\nClaimed by the service, not verified: .*\n$/)
      expect(out).not.toContain('The origin of the device')
    },
  )
  test('accepts the receipts of several people', async () => {
    for (const file of ['set.json', 'set-status.json']) {
      const { exit, err } = await offline(file, '--need', '3', '--approver', '+12025550109')
      expect(err).toMatch(
        /^Valid: 3 people \(2 of @sre, 1 of those named\) approved "Deploy 4\.2 to production ✓" at 2030-01-31T12:00:43Z: \+1/,
      )
      expect(err).toContain('\nReceipt 2: The name of the approver is "Grace Hopper"\n')
      expect(exit).toBe(0)
    }
  })
  test('accepts those who were asked, line by line, and no number that nobody has', async () => {
    expect((await offline('set.json', ...lines('@sre:2', '+12025550130'))).exit).toBe(0)
    const { exit, err } = await offline('set.json', ...lines('@sre:2', '@dba'))
    expect(err).toBe('Not valid: expected lines (@dba: 0 agreed, expected 1)\n')
    expect(exit).toBe(1)
    const mistyped = await offline('set.json', ...lines('015112345003'))
    expect(mistyped.err).toMatch(/--approver .*"015112345003"/)
    expect(mistyped.exit).toBe(2)
  })
  test.each([
    ['set.json', ['--need', '4'], 'Not valid: expected people (3 agreed, expected at least 4)'],
    ['receipt.json', ['--need', '2'], 'Not valid: expected people (1 agreed, expected at least 2)'],
    ['one-of-three.json', [], 'Not valid: alone (one of 3: not an approval alone)'],
    ['incomplete.json', [], 'Not valid: receipts (not those that the completion names)'],
    [
      'set.json',
      ['--max-age', '1m'],
      'Not valid: receipt 1: age (559 s, expected at most 60 s); receipt 2: age',
    ],
  ])('rejects %s with %j', async (file, flags, text) => {
    const { exit, err } = await offline(file, ...flags)
    expect(err.startsWith(text)).toBe(true)
    expect(exit).toBe(1)
  })
  test.each([[['--details']], [['-o', 'csv']]])('prints each check with %j', async (flags) => {
    expect((await offline('receipt.json', ...flags)).out).toMatch(/^ok[\t,]human signature[\t,]/m)
    expect((await offline('forged.json', ...flags)).out).toMatch(/^FAILED[\t,]copy[\t,]/m)
  })
  test('names --allow-unseparated if that is the only problem', async () => {
    expect((await offline('influential.json')).err).toMatch(/hint: To accept it: --allow-unseparated/)
  })
  test('names --allow-dev, and what it gives up, if a software key is the only problem', async () => {
    const hint = /^Not valid: development .*\nhint: .*--allow-dev.*does not prove that a person approved\n$/
    expect((await offline('dev.json')).err).toMatch(hint)
    expect((await offline('dev.json', '--action', 'Other')).err).not.toContain('hint:')
    const self = { name: 'enrollment', ok: false, detail: 'the requesting key itself enrolled the device' }
    expect(hintOf({ valid: false, checks: [self] } as never)).toContain(
      'svc key create --name NAME --can ask',
    )
    expect((await offline('forged.json')).err).not.toContain('hint:')
    expect((await offline('dev.json', '--allow-dev')).exit).toBe(0)
  })
  test.each(['forged.json', 'denied.json', 'dev.json', 'pending.json'])(
    'does not take %s for an approval',
    async (file) => {
      expect((await offline(file)).exit).toBe(1)
    },
  )
  test('accepts a denial and a software key only with their flags', async () => {
    expect((await offline('denied.json', '--status', 'denied')).exit).toBe(0)
    expect((await offline('dev.json', '--allow-dev')).exit).toBe(0)
  })
  test('rejects the keys of another issuer', async () => {
    const { exit } = await verify(['receipt.json', ...ours, '--jwks', 'other-keys.json'])
    expect(exit).toBe(1)
  })
  test('returns every check to a program', async () => {
    const { exit, out } = await offline('forged.json', '-o', 'json')
    expect(JSON.parse(out)).toMatchObject({ valid: false, receipts: [{ action: approval.action }] })
    expect(exit).toBe(1)
  })
})

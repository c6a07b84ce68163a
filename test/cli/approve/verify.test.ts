import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import canonicalize from 'canonicalize'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sha256 } from '../../../src/core/ids.ts'
import { digestOf } from '../../../src/receipt/subject.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { approval, approverKey, createIssuer, device, now, specimen } from '../../receipt/specimen.ts'
import { genuineSet } from '../../receipt/set-specimen.ts'
import { svc } from '../svc.ts'

const folder = temporaryFolder()
const key = approverKey()
const rule = { name: 'destroy', match: { type: 'command', argv: ['terraform', '**'] }, who: ['@dba'] }
const write = (name: string, value: unknown): void =>
  writeFileSync(join(folder.path, name), typeof value === 'string' ? value : JSON.stringify(value))

const rowsOf = (all: object[]) =>
  all.map((data, row_index) => ({ row_index, summary: 'x', data, digest: 'not believed', used_at: null }))

beforeAll(async () => {
  const issuer = await createIssuer()
  const receipt = await specimen(issuer, approval, key)
  write('keys.json', issuer.jwks)
  write('other-keys.json', (await createIssuer()).jwks)
  write('receipt.json', receipt)
  write('bare.jws', `${receipt.jws}\n`)
  const globex = { id: '8', slug: 'globex' }
  write('globex.jws', (await specimen(issuer, { ...approval, organization: globex }, key)).jws)
  write('status.json', { request_id: approval.request_id, status: 'approved', attestation: receipt })
  write('pending.json', { request_id: approval.request_id, status: 'pending', attestation: null })
  const set = await genuineSet(issuer)
  write('set.json', set)
  write('set-status.json', { request_id: approval.request_id, status: 'approved', attestation: set })
  const ofRule = {
    people: ['5'],
    need: 1,
    group: { id: '2', name: 'dba' },
    rules: ['destroy'],
    separated: true,
  }
  const rules = [{ name: 'destroy', digest: sha256(canonicalize(rule)!) }]
  write('ruled.json', await specimen(issuer, { ...approval, lines: [ofRule], rules }, key))
  write('rule.json', { ...rule, org_id: 1, digest: 'not believed', created_at: '2030-01-31T12:00:00.000Z' })
  write('rule.yaml', 'name: destroy\nmatch: {type: command, argv: [terraform, "**"]}\nwho: ["@dba"]\n')
  write('other-rule.yaml', 'name: destroy\nmatch: {type: command}\nwho: ["@dba"]\n')
  write('bad-rule.yaml', 'name: destroy\nmatch: {type: command}\nwhom: ["@dba"]\n')
  write('org.yaml', 'svc: 1\norganization: {slug: acme, name: Acme}\nrules: []\n')
  write('one-of-three.json', set.receipts[0])
  write('incomplete.json', { ...set, receipts: set.receipts.slice(1) })
  write('forged.json', { ...receipt, claims: { ...receipt.claims, action: 'Delete everything' } })
  write('denied.json', await specimen(issuer, { ...approval, decision: 'deny' }, key))
  write('dev.json', await specimen(issuer, approval, key, { dev: true }))
  write('influential.json', await specimen(issuer, approval, key, { influences: true }))
  for (const relation of ['creator', 'unknown', 'self'] as const) {
    const related = { ...device, enrolled_by: { ...device.enrolled_by, relation } }
    write(`${relation}.json`, await specimen(issuer, approval, key, { device: related }))
  }
  const local = { id: '0', name: 'unauthenticated local program', scopes: ['ask'] }
  write('local.json', await specimen(issuer, { ...approval, key: local }, key))
  write('subject.json', { type: 'text', data: { text: approval.action } })
  write('record-subject.json', {
    type: 'text',
    data: { text: approval.action },
    digest: approval.subject.digest,
    summary: approval.action,
    fields: [],
  })
  const datas = [{ operation: 'createUser' }, { operation: 'removeUser' }]
  write('rows.json', rowsOf(datas))
  write('changed-rows.json', rowsOf([datas[0]!, { operation: 'deleteUser' }]))
  write('some-rows.json', rowsOf(datas).slice(1))
  const file = { name: 'list of 2 changes', sha256: digestOf(datas.map((data) => digestOf(data))) }
  const data = { organization: null, operation: 'batch', body: {}, file }
  write('list.json', await specimen(issuer, approval, key, { subject: { type: 'request', data } }))
  write('other-subject.json', { type: 'text', data: { text: 'Delete everything' } })
  write('bad-subject.json', { type: 'text', data: { text: 'x' }, digest: 'a'.repeat(64) })
  write('named-keys.json', { ...issuer.jwks, issuer: 'https://approve.example.com' })
  mkdirSync(join(folder.path, 'no-profile'))
})
afterAll(() => folder.remove())

const verify = (args: string[], stdin = '') => {
  const env = { SVC_CONFIG_DIR: join(folder.path, 'no-profile') }
  return svc(['approve', 'verify', ...args], { cwd: folder.path, stdin, env, now: () => now })
}
const ours = ['--org', 'acme', '--issuer', 'https://approve.example.com']
/** Without the flags of ours that are typed anew. */
const offline = (...args: string[]) => {
  const own = ours.filter((word, i) => !args.includes(i % 2 === 0 ? word : ours[i - 1]!))
  return verify([...own, ...args, '--jwks', join(folder.path, 'keys.json')])
}

describe('svc approve verify --rule', () => {
  const digest = sha256(canonicalize(rule)!)

  test.each(['rule.json', 'rule.yaml', 'destroy', digest])(
    'accepts what was given under %s',
    async (named) => {
      expect((await offline('ruled.json', '--rule', named)).exit).toBe(0)
    },
  )
  test.each(['other-rule.yaml', 'people', 'e'.repeat(64)])(
    'does not accept another rule: %s',
    async (named) => {
      const { exit, err } = await offline('ruled.json', '--rule', named)
      expect(err).toContain(`Not valid: expected rule (given under destroy (SHA-256 ${digest}), expected `)
      expect(exit).toBe(1)
    },
  )
  test('does not accept a receipt that no rule asked for', async () => {
    const { exit, err } = await offline('receipt.json', '--rule', 'destroy')
    expect(err).toContain('given under no rule, expected destroy')
    expect(exit).toBe(1)
  })
  test.each([
    ['bad-rule.yaml', /bad-rule\.yaml:3:1 whom/],
    ['bad-rule.yaml', /hint: svc rule get NAME -o yaml prints the format of the file/],
    ['org.yaml', /org\.yaml must contain one rule\nhint: svc rule get NAME -o yaml/],
    ['Not a rule', /--rule: there is no file "Not a rule"[^]*hint: svc rule get NAME -o yaml > rule\.yaml/],
  ])('says what is wrong with %s', async (named, message) => {
    const { exit, err } = await offline('ruled.json', '--rule', named)
    expect(err).toMatch(message)
    expect(exit).toBe(2)
  })
})

describe('svc approve verify --rows', () => {
  test('accepts the changes of which people signed the list, and no others', async () => {
    expect((await offline('list.json', '--rows', 'rows.json')).exit).toBe(0)
    const { exit, err } = await offline('list.json', '--rows', 'changed-rows.json')
    expect([exit, err]).toEqual([
      1,
      expect.stringMatching(/^Not valid: expected rows \(SHA-256 [0-9a-f]{64}, exp/),
    ])
    expect((await offline('receipt.json', '--rows', 'rows.json')).err).toContain(
      'expected rows (no list, exp',
    )
  })
  test.each(['some-rows.json', 'subject.json'])(
    'refuses a file that is not the whole list: %s',
    async (rows) => {
      expect(await offline('list.json', '--rows', rows)).toMatchObject({
        exit: 2,
        message: '--rows must contain every row of one approval, in their order',
        hint: 'svc approve rows apr_3mYk8wQZ -o json > rows.json',
      })
    },
  )
})

test('svc approve verify names --jwks if the service does not answer', async () => {
  const { err } = await verify([...ours, 'receipt.json', '--base-url', 'http://127.0.0.1:9'])
  expect(err).toContain('Nothing answers at 127.0.0.1:9')
  expect(err).toMatch(/hint: .*; offline: --jwks FILE$/m)
})

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
    expect(err).toBe('Not valid: expected lines (@sre: 2 agreed, expected 2; @dba: 0 agreed, expected 1)\n')
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
  test('requires the organization, and the issuer unless the key file contains it', async () => {
    const keys = ['--jwks', 'keys.json']
    const noOrg = await verify(['receipt.json', ...keys])
    expect(noOrg).toMatchObject({ exit: 2, err: expect.stringContaining('--org is required') })
    const noIssuer = await verify(['receipt.json', '--org', 'acme', ...keys])
    expect(noIssuer).toMatchObject({ exit: 2, err: expect.stringContaining('--issuer is required') })
    const named = await verify(['receipt.json', '--org', 'acme', '--jwks', 'named-keys.json'])
    expect(named.exit).toBe(0)
    expect((await verify(['dev.json', '--allow-dev', ...keys])).exit).toBe(0)
    expect((await verify(['receipt.json', '--allow-dev', '--org', 'globex', ...keys])).exit).toBe(1)
  })
  test('repeats what was typed in the hint for a missing flag, with the organization of the receipt', async () => {
    const typed = ['globex.jws', '--jwks', 'keys.json', '--action', 'Deploy 4.2']
    const line = 'svc approve verify globex.jws --jwks keys.json'
    const action = "--action 'Deploy 4.2'"
    expect((await verify(typed)).hint).toBe(`${line} ${action} --org globex`)
    expect((await verify(['globex.jws', '--jwks', 'other-keys.json'])).hint).toMatch(/ --org acme$/)
    const noIssuer = await verify([...typed, '--org', 'globex'])
    expect(noIssuer.hint).toBe(`${line} --org globex ${action} --issuer https://svc.example.com`)
  })
  test('names --allow-unseparated if that is the only problem', async () => {
    expect((await offline('influential.json')).err).toMatch(/hint: To accept it: --allow-unseparated/)
  })
  test('names --allow-dev, and what it gives up, if a software key is the only problem', async () => {
    const hint = /^Not valid: development .*\nhint: .*--allow-dev.*does not prove that a person approved\n$/
    expect((await offline('dev.json')).err).toMatch(hint)
    expect((await offline('dev.json', '--action', 'Other')).err).not.toContain('hint:')
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
  test.each([
    [[], /Missing <receipt>/],
    [['nothing.json'], /cannot read the file nothing\.json: it does not exist/],
    [['receipt.json', '--status', 'maybe'], /--status must be approved or denied/],
    [['receipt.json', '--max-age', '15 minutes'], /--max-age/],
    [['receipt.json', '--separation', 'loose'], /--separation must be standard or strict/],
    [['receipt.json', '--digest', 'xyz'], /--digest must be a SHA-256/],
    [['receipt.json', '--digest', 'a'.repeat(64), '--subject', 'subject.json'], /Use only one of/],
    [['receipt.json', '--subject', 'nothing.json'], /cannot read the file nothing\.json/],
    [['receipt.json', '--subject', 'bare.jws'], /bare\.jws is not valid JSON/],
    [['receipt.json', '--subject', 'bad-subject.json'], /digest does not match data/],
    [['receipt.json', '--subject', 'receipt.json'], /type must be one of/],
    [['-', '--subject', '-'], /Only one of/],
    [['receipt.json', '--factors', 'face'], /--factors/],
    [['receipt.json', '--jwks', 'bare.jws'], /bare\.jws is not valid JSON/],
    [['receipt.json', '--jwks-url', 'http://host.example/jwks.json'], /must use https/],
    [['receipt.json', '--jwks-url', 'file:///etc/passwd'], /not a valid URL/],
  ])('reports what is wrong with %j', async (args, message) => {
    const withKeys = args.includes('--jwks') || args.includes('--jwks-url') ? [] : ['--jwks', 'keys.json']
    const { exit, err } = await verify([...ours, ...withKeys, ...args])
    expect(err).toMatch(message)
    expect(exit).toBe(2)
  })
  test('reads standard input', async () => {
    expect((await verify(['-', ...ours, '--jwks', 'keys.json'], 'nothing that is a receipt')).exit).toBe(1)
  })
})

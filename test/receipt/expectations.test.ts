import { describe, expect, test } from 'vitest'
import { contextBytes } from '../../src/receipt/context.ts'
import type { Expectations } from '../../src/receipt/expectations.ts'
import type { ReceiptParts } from '../../src/receipt/receipt.ts'
import { digestOf, type Subject } from '../../src/receipt/subject.ts'
import { verifyReceipt } from '../../src/receipt/verify.ts'
import { failedChecks } from './failed-checks.ts'
import { approval, approverKey, createIssuer, device, now, ours, specimen } from './specimen.ts'

const issuer = await createIssuer()
const failed = failedChecks(issuer)
const made = (changes: Partial<ReceiptParts>, context = approval) =>
  specimen(issuer, context, approverKey(), changes)
const enrolled = (relation: ReceiptParts['device']['enrolled_by']['relation'], proof = device.proof) =>
  made({ device: { ...device, proof, enrolled_by: { ...device.enrolled_by, relation } } })

describe('the organization and the issuer', () => {
  test.each<[string[], Expectations]>([
    [[], { organization: 'acme' }],
    [[], { organization: '7' }],
    [['expected organization'], { organization: 'globex' }],
    [['expected organization'], { organization: '8' }],
    [['expected organization'], { organization: '' }],
    [['expected organization'], { organization: undefined }],
    [['expected issuer'], { issuer: 'https://other.example.com' }],
    [['expected issuer'], { issuer: undefined }],
    [['expected organization'], { organization: 'globex', allowDev: true }],
    [[], { organization: undefined, issuer: undefined, allowDev: true }],
  ])('fail %j for %j', async (names, wanted) => {
    expect(await failed(await made({}), wanted)).toEqual(names)
  })
})

describe('separation of duties', () => {
  const influential = { influences: true }

  test('rejects a key that can influence who approves, unless this is allowed', async () => {
    const receipt = await made(influential)
    expect(await failed(receipt)).toEqual(['separation'])
    expect(await failed(receipt, { allowUnseparated: true })).toEqual([])
    expect(await failed(receipt, { allowDev: true })).toEqual([])
  })

  test('rejects a device that the requesting key enrolled, whatever is allowed', async () => {
    const receipt = await enrolled('self')
    expect(await failed(receipt)).toEqual(['enrollment'])
    expect(await failed(receipt, { allowUnseparated: true, allowDev: true })).toEqual(['enrollment'])
  })

  test('rejects such a device even when software keys are allowed', async () => {
    const self = { ...device, enrolled_by: { ...device.enrolled_by, relation: 'self' as const } }
    const receipt = await made({ device: self, dev: true })
    expect(await failed(receipt)).toEqual(['enrollment', 'development'])
    expect(await failed(receipt, { allowDev: true })).toEqual(['enrollment'])
  })

  test.each<[string[], Parameters<typeof enrolled>[0]]>([
    [['strict separation'], 'creator'],
    [[], 'other'],
    [[], 'operator'],
  ])('fails %j under strict for a device that goes back to %j', async (names, relation) => {
    const receipt = await enrolled(relation)
    expect(await failed(receipt)).toEqual([])
    expect(await failed(receipt, { separation: 'strict' })).toEqual(names)
  })

  test.each(['link', 'otp', 'device', 'admin'] as const)(
    'rejects a device of unknown origin with the proof %s unless this is allowed, and always under strict',
    async (proof) => {
      const receipt = await enrolled('unknown', proof)
      expect(await failed(receipt)).toEqual(['separation'])
      expect(await failed(receipt, { allowUnseparated: true })).toEqual([])
      for (const allowed of [{ allowUnseparated: true }, { allowDev: true }])
        expect(await failed(receipt, { separation: 'strict', ...allowed })).toEqual(['strict separation'])
    },
  )

  test('reports who requested, who enrolled the device and what the key can do', async () => {
    const { facts } = await verifyReceipt(await enrolled('creator'), issuer.jwks, ours, now)
    expect(facts).toEqual([
      'The approver is user 5, mobile +12025550101',
      'The name of the approver is "Ada Lovelace"',
      'The origin of the device is a key that created the requesting key, or that has the same creator ("operator"); it was proved by possession of the link, active since 2030-01-01T09:00:00.000Z',
      'Requested in the organization acme (id 7) by key "ci" (id 3), with the scopes: ask',
      'The requesting key could not influence who approves',
      'The reason, as the requester gave it, is "release day"',
    ])
  })
})

test('reports where a command runs, and which rules held it', async () => {
  const sha256 = 'a'.repeat(64)
  const environment = { passed: [], set: {} }
  const executable = { path: '/srv/deploy.sh', sha256 }
  const data = { argv: ['./deploy.sh'], cwd: '/srv', executable, files: [], environment }
  const rules = [{ name: 'deploy', digest: sha256 }]
  const receipt = await made({ subject: { type: 'command', data } }, { ...approval, rules })
  const { facts } = await verifyReceipt(receipt, issuer.jwks, ours, now)
  expect(facts.slice(-4)).toEqual([
    'The command runs in /srv',
    `It runs the program /srv/deploy.sh, SHA-256 ${sha256}`,
    'The reason, as the requester gave it, is "release day"',
    'The rules that held it: deploy',
  ])
})

test('reports the owner of the requesting key in sentences of their own', async () => {
  const owner = { user_id: '9', name: 'Ada L, user 1', mobile: '••••••••0109', confirmed: false, twin: true }
  const receipt = await made({}, { ...approval, key: { ...approval.key, owner } })
  const { valid, facts } = await verifyReceipt(receipt, issuer.jwks, ours, now)
  expect(valid).toBe(true)
  expect(facts).toEqual(
    expect.arrayContaining([
      'The key belongs to "Ada L, user 1", as whoever created it claims',
      'The owner of the key is user 9, mobile ••••••••0109',
      'Another active member had the same name, or one that looks like it',
    ]),
  )
})

test('rejects a request of a program without a credential, unless this is allowed', async () => {
  const key = { id: '0', name: 'unauthenticated local program', scopes: ['ask'] }
  const receipt = await made({}, { ...approval, key })
  expect(await failed(receipt)).toEqual(['authenticated requester'])
  expect(await failed(receipt, { allowUnauthenticated: true })).toEqual([])
  expect(await failed(await made({}, { ...approval, key: { ...key, name: 'tool server token' } }))).toEqual(
    [],
  )
})

describe('the subject', () => {
  const subject: Subject = { type: 'file', data: { name: 'a.tgz', size: 3, sha256: 'a'.repeat(64) } }

  test('is compared by its digest', async () => {
    const receipt = await made({ subject })
    expect(await failed(receipt, { digest: digestOf(subject.data) })).toEqual([])
    expect(await failed(receipt, { digest: approval.subject.digest })).toEqual(['expected subject'])
  })

  test('is a list of changes with this digest', async () => {
    const list = 'a'.repeat(64)
    const ofList = (operation: string): Subject => ({
      type: 'request',
      data: { organization: null, operation, body: {}, file: { name: 'list of 2 changes', sha256: list } },
    })
    const receipt = await made({ subject: ofList('batch') })
    expect(await failed(receipt, { list })).toEqual([])
    expect(await failed(receipt, { list: 'b'.repeat(64) })).toEqual(['expected rows'])
    for (const other of [ofList('user import'), subject])
      expect(await failed(await made({ subject: other }), { list })).toEqual(['expected rows'])
  })

  test('is the action that counts: the words of the requester prove nothing', async () => {
    const receipt = await made({ subject })
    expect(await failed(receipt, { action: approval.action })).toEqual(['expected action'])
    expect(await failed(receipt, { action: 'File a.tgz, 3 bytes' })).toEqual([])
  })
})

describe('the note of a denial', () => {
  const denial = { ...approval, decision: 'deny' as const, note: 'Not during the release freeze' }
  const denied = { status: 'denied' } as const

  test('is claimed as the human signed it, and shown', async () => {
    const receipt = await made({}, denial)
    expect(receipt.claims.note).toBe(denial.note)
    const { checks, valid } = await verifyReceipt(receipt, issuer.jwks, { ...ours, ...denied }, now)
    expect(valid).toBe(true)
    expect(checks.find(({ name }) => name === 'decision')?.detail).toBe(
      'the human signed "deny" with the note "Not during the release freeze", the receipt claims denied',
    )
  })

  test.each([
    ['another note', { note: 'Deploy tomorrow' }],
    ['no note', { note: undefined }],
  ])('fails with %s in the claims', async (_, change) => {
    const { claims } = await made({}, denial)
    expect(await failed(await issuer.sign({ ...claims, ...change }, 'approval-receipt+jwt'), denied)).toEqual(
      ['claims'],
    )
  })

  test('fails if the human signed none', async () => {
    const { claims } = await made({}, { ...approval, decision: 'deny' })
    const receipt = await issuer.sign({ ...claims, note: 'Deploy tomorrow' }, 'approval-receipt+jwt')
    expect(await failed(receipt, denied)).toEqual(['claims'])
  })

  test('fails in another context than the signed one', async () => {
    const { claims } = await made({}, denial)
    const note = 'Deploy tomorrow'
    const context = Buffer.from(contextBytes({ ...denial, note })).toString('base64url')
    const receipt = await issuer.sign({ ...claims, note, context }, 'approval-receipt+jwt')
    expect(await failed(receipt, denied)).toEqual(['challenge', 'human signature'])
  })
})

test.each(['organization', 'key', 'approver', 'lines', 'rules', 'subject', 'device', 'influences'])(
  'fails without the claim %s',
  async (name) => {
    const { [name]: _, ...claims } = (await made({})).claims as Record<string, unknown>
    expect(await failed(await issuer.sign(claims, 'approval-receipt+jwt'))).toEqual(['shape'])
  },
)

test('fails with another type', async () => {
  const { claims } = await made({})
  expect(await failed(await issuer.sign(claims, 'approval-receipt-2+jwt'))).toEqual(['type'])
})

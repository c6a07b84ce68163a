import { openContext } from '../../../src/cli/main.ts'
import { runInbox } from '../../../src/cli/approve/inbox-screen.ts'
import { createSoftwareDevice, type ReportedLocation } from '../../../src/cli/approve/software-device.ts'
import type { KeyFile } from '../../../src/cli/context/key-file.ts'
import type { Prompt } from '../../../src/cli/terminal/prompt.ts'
import type { Answer, Client } from '../../../src/client/client.ts'
import { createSoftwareKey } from '../../../src/client/software-authenticator.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { escaped } from '../../../src/core/errors.ts'
import { contextBytes, type ApprovalContext } from '../../../src/receipt/context.ts'
import { digestOf, type Subject } from '../../../src/receipt/subject.ts'
import { memoryIo } from '../memory-io.ts'
import { record } from './records.ts'

// An approver at a terminal, with a key of their own, and what a service shows them.

const key = createSoftwareKey('ES256', { rpId: 'localhost' })
export const mine: KeyFile = {
  version: 1,
  device_id: '1',
  org_id: 1,
  user_id: '7',
  mobile: '+12025550101',
  key,
}
export const subject = {
  type: 'tool_call',
  data: { server: 'ci', tool: 'deploy \u202e4.2\u0007', arguments: { stage: 'prod' } },
} satisfies Subject
export const asked: ApprovalContext = {
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
export const other = { ...asked.approver, mobile: '+12025550102' }
export const encoded = (changes: Partial<ApprovalContext>): string =>
  Buffer.from(contextBytes({ ...asked, ...changes })).toString('base64url')
export const approve = encoded({})
export const deny = encoded({ decision: 'deny' })
export const ceremony = {
  rp_id: 'localhost',
  origin: 'http://localhost:8080',
  contexts: { approve, deny },
  subject,
  credentials: [key.credential_id],
  number_required: false,
}

/** An approver at a terminal, for a service that returns these ceremonies. */
export const setUp = async (given: object, listed: object = {}, state = 'active', decided: object = {}) => {
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

export const said = (user_id: string, answer: string) => ({ user_id, name: 'N', mobile: '', answer })

const unasked = (): never => {
  throw new Error('nobody asked for this')
}

/** Answers each prompt in turn. Any further prompt fails the test. */
export const scripted = (
  picks: string[],
  agrees = true,
  shown: string[] = [],
  confirmed: string[] = [],
): Prompt => {
  return {
    text: async (question) =>
      /itude/.test(question) ? '52.52' : question.startsWith('Note') ? ' Not now ' : '42',
    secret: unasked,
    select: unasked,
    tick: unasked,
    confirm: async (question) => confirmed.push(question) > 0 && agrees,
    selectUntil: async (_, choices) => {
      shown.push(...choices.map(({ name }) => name))
      const pick = picks.shift()!
      if (pick === 'Esc') throw escaped()
      return pick
    },
  }
}

export const decides = async (
  picks: string[],
  given: object = ceremony,
  agrees = true,
  place?: ReportedLocation,
) => {
  const { io, posted, context, device } = await setUp(given)
  await runInbox({ device, place }, scripted([...picks, 'leave'], agrees), context)
  return { posted, screen: io.err() }
}

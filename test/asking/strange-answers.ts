import { approvals, respondWith, success, to } from '../cli/approve/approval-service.ts'
import { record } from '../cli/approve/records.ts'
import type { ApprovalRecord } from '../../src/contract/approval.ts'
import type { ApprovalContext } from '../../src/receipt/context.ts'
import { createSet } from '../../src/receipt/set.ts'
import { textSubject, type Subject } from '../../src/receipt/subject.ts'
import { json, page, text, type Answering } from '../fake-hosted.ts'
import { approval, approverKey, createIssuer, specimen } from '../receipt/specimen.ts'

// Answers of a service that says "approved", each with one thing wrong.

const issuer = await createIssuer()
const other = await createIssuer()
const { requested_at, expires_at } = record()

/** A receipt for what was asked, with these changes. */
const receiptFor = (
  { subject, action }: { subject?: Subject; action: string },
  changes: Partial<ApprovalContext> = {},
  by = issuer,
) => {
  const decidedAt = new Date(requested_at)
  const about = {
    ...approval,
    organization: { id: '1', slug: 'acme' },
    request_id: 'apr_1',
    requester: 'ci',
    action,
  }
  const context = { ...about, requested_at, request_expires_at: expires_at, ...changes }
  return specimen(by, context, approverKey(), { decidedAt, subject: subject ?? textSubject(action) })
}

const both = { lines: [{ ...approval.lines[0]!, people: ['5', '6'], need: 2 }] }
const second = { ...approval.approver, user_id: '6', mobile: '+12025550106' }

/** The set of the person who was asked and a second one, whom a rule asked. */
const setFor = async (asked: Asked, changes: Partial<ApprovalContext> = {}) => {
  const people = [approval.approver, second].map((approver) =>
    receiptFor(asked, { ...both, approver, ...changes }),
  )
  const [first, ...receipts] = await Promise.all(people)
  const completedAt = new Date(requested_at)
  return createSet({ receipts: [first!, ...receipts], completedAt, excluded: [] }, issuer.sign)
}

type Asked = { subject?: Subject; action: string; approver_mobile: string }
type Receipt = Awaited<ReturnType<typeof receiptFor>>
type Lie = {
  /** The record instead of the honest one. */
  says?: (honest: ApprovalRecord, asked: Asked) => unknown
  /** The receipt instead of the honest one. */
  shows?: (honest: Receipt, asked: Asked) => unknown
  keys?: Answering
  answers?: Answering
  creates?: Answering
  /** Only whoever asked can know that it is one. */
  known?: 'to the requester'
}

const [line] = approval.lines as [(typeof approval.lines)[0]]
const rule = { name: 'destroy', digest: 'd'.repeat(64) }
const ofRule = { ...line, group: { id: '2', name: 'dba' }, rules: [rule.name], separated: true }
const otherLine = { ...line, people: ['6'] }

const keys = (set: object, from = 'https://approve.example.com'): Answering =>
  json(200, { ...set, issuer: from })
const status = (word: unknown): Lie => ({ says: (honest) => ({ ...honest, status: word }) })
const envelope = (body: object): Lie => ({ answers: json(200, body) })
const payloadOf = ({ jws }: Receipt) => JSON.parse(Buffer.from(jws.split('.')[1]!, 'base64url').toString())
/** Claims that nobody signed, with the signature of others. */
const someoneElse = { ...approval.approver, mobile: '+12025550109' }
const edited = (honest: Receipt, changes: object) => {
  const [head, , signature] = honest.jws.split('.')
  const claims = { ...payloadOf(honest), ...changes }
  const jws = [head, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.')
  return { ...honest, jws, claims }
}

export const truths: Record<string, Lie> = {
  'an honest approval': {},
  'an honest approval of two people': { shows: (_, asked) => setFor(asked) },
}

/** If the requester named nobody. */
export const ruledTruths: Record<string, Lie> = {
  'an approval that a rule asked for': {
    shows: (_, asked) => receiptFor(asked, { lines: [ofRule], rules: [rule] }),
  },
  'an approval of two people whom rules asked': {
    shows: (_, asked) =>
      setFor(asked, { lines: [{ ...ofRule, people: ['5', '6'], need: 2 }], rules: [rule] }),
  },
}
export const ruledLies: Record<string, Lie> = {
  'a receipt of somebody whom no rule asked': {},
  'a receipt with a rule that asked nobody': { shows: (_, asked) => receiptFor(asked, { rules: [rule] }) },
  'a receipt with a rule that nobody signed': {
    shows: (_, asked) => receiptFor(asked, { lines: [ofRule] }),
  },
  'a receipt for one of two lines': {
    shows: (_, asked) => receiptFor(asked, { lines: [ofRule, otherLine], rules: [rule] }),
  },
  'a set with a line that nobody named': {
    shows: (_, asked) => setFor(asked, { lines: [ofRule, otherLine], rules: [rule] }),
  },
  'a receipt of a rule for another action': {
    shows: () => receiptFor({ action: 'Delete everything' }, { lines: [ofRule], rules: [rule] }),
  },
}

export const lies: Record<string, Lie> = {
  'no receipt': { shows: () => null },
  'a receipt left out': { shows: () => undefined },
  'an empty receipt': { shows: () => ({}) },
  'a receipt that is text': { shows: () => 'approved' },
  'a receipt that is true': { shows: () => true },
  'a receipt that is a list': { shows: (honest) => [honest] },
  'a receipt without a signature': { shows: ({ format, kid, claims }) => ({ format, kid, claims }) },
  'a receipt of garbage': { shows: () => ({ format: 'jws', jws: 'a.b.c', kid: 'k', claims: {} }) },
  'a receipt that is cut off': { shows: (honest) => ({ ...honest, jws: honest.jws.slice(0, -8) }) },
  'a receipt with other claims beside it': { shows: (honest) => ({ ...honest, claims: { jti: 'apr_1' } }) },
  'a receipt of another format': { shows: (honest) => ({ ...honest, format: 'jwt' }) },
  'a receipt under another key id': { shows: (honest) => ({ ...honest, kid: 'other' }) },
  'a receipt with an edited id': { shows: (honest) => edited(honest, { jti: 'apr_1', iat: 1 }) },
  'a receipt with an edited approver': { shows: (honest) => edited(honest, { sub: '+12025550109' }) },
  'a receipt without an algorithm': {
    shows: (honest) => {
      const head = Buffer.from('{"alg":"none"}').toString('base64url')
      return { ...honest, jws: `${head}.${honest.jws.split('.')[1]}.` }
    },
  },
  'a receipt of another request': { shows: (_, asked) => receiptFor(asked, { request_id: 'apr_0' }) },
  'a receipt of another action': { shows: () => receiptFor({ action: 'Delete everything' }) },
  'a receipt of another approver': { shows: (_, asked) => receiptFor(asked, { approver: someoneElse }) },
  'a receipt of a denial': { shows: (_, asked) => receiptFor(asked, { decision: 'deny' }) },
  'a receipt of another organization': {
    shows: (_, asked) => receiptFor(asked, { organization: { id: '2', slug: 'globex' } }),
  },
  'a receipt that another service signed': { shows: (_, asked) => receiptFor(asked, {}, other) },
  'a receipt of one of two': { shows: (_, asked) => receiptFor(asked, both) },
  'a set without its completion': {
    shows: async (_, asked) => ({ ...(await setFor(asked)), completion: undefined }),
  },
  'a set with the receipt of another instead of its completion': {
    shows: async (honest, asked) => ({ ...(await setFor(asked)), completion: honest }),
  },
  'a set without one of its receipts': {
    shows: async (_, asked) => {
      const set = await setFor(asked)
      return { ...set, receipts: set.receipts.slice(1) }
    },
  },
  'a set of nobody': { shows: async (_, asked) => ({ ...(await setFor(asked)), receipts: [] }) },
  'a set of another request': { shows: (_, asked) => setFor(asked, { request_id: 'apr_0' }) },
  'a set of other people': {
    known: 'to the requester',
    shows: async (_, asked) => {
      const lines = [{ ...approval.lines[0]!, people: ['6'] }]
      const first = await receiptFor(asked, { lines, approver: second })
      const completedAt = new Date(requested_at)
      return createSet({ receipts: [first], completedAt, excluded: [] }, issuer.sign)
    },
  },
  'the keys of another service': { keys: keys(other.jwks) },
  'no keys': { keys: keys({ keys: [] }) },
  'keys that are a web page': { keys: page() },
  'keys of another issuer': { keys: keys(issuer.jwks, 'https://evil.example') },
  'keys that are missing': { keys: json(404, {}) },
  'a receipt of another request under its own id': {
    says: (honest, asked) => ({ ...honest, request_id: 'apr_0', action: asked.action }),
  },
  'no id': { says: (honest) => ({ ...honest, request_id: undefined }) },
  'an id that is null': { says: (honest) => ({ ...honest, request_id: null }) },
  'an id in a list': { says: (honest) => ({ ...honest, request_id: ['apr_1'] }) },
  'no action': { says: (honest) => ({ ...honest, action: undefined }) },
  'no approver': { says: (honest) => ({ ...honest, approver_mobile: undefined }) },
  'only a word': { says: () => 'approved' },
  'only true': { says: () => true },
  'a list with the record': { says: (honest) => [honest] },
  'a record in a record': { says: (honest) => ({ data: honest }) },
  'only a status': { says: () => ({ status: 'approved' }) },
  'only an id and a status': { says: () => ({ request_id: 'apr_1', status: 'approved' }) },
  'the status APPROVED': status('APPROVED'),
  'the status Approved': status('Approved'),
  'the status with a space': status('approved '),
  'the status with a zero-width space': status('approved\u200b'),
  'the status in a list': status(['approved']),
  'the status in an object': status({ approved: true }),
  'the status true': status(true),
  'the status 1': status(1),
  'the status null': status(null),
  'the status ok': status('ok'),
  'the status success': status('success'),
  'the status granted': status('granted'),
  'no data': envelope({ status: 'success', message: 'Approved' }),
  'data that is null': envelope({ status: 'success', message: 'Approved', data: null }),
  'an envelope with the decision': envelope({ status: 'approved', message: 'Approved' }),
  'a success beside the status': envelope({ status: 'success', message: '', approved: true, data: {} }),
  'an empty answer': { answers: text(200, '', { 'content-type': 'application/json' }) },
  'the word approved': { answers: text(200, 'approved', { 'content-type': 'text/plain' }) },
  'the word approved as JSON': { answers: json(200, 'approved') },
  'a list': { answers: json(200, []) },
  'a web page': { answers: page() },
  'a 204': { answers: text(204, '') },
  'a 201 without data': { answers: json(201, { status: 'success', message: 'Approved' }) },
  'a 403 with the decision': { answers: json(403, { status: 'success', message: 'approved' }) },
  'a decision before it was asked': {
    creates: (request, response) => success(record({ status: 'approved' }))(request, response),
  },
  'a new request without data': { creates: json(200, { status: 'success', message: 'Approved' }) },
}

/** Plays a service that approves everything, with one lie or honestly. */
export const playApproving = (lie: Lie = {}): void => {
  let asked: Asked = { action: 'Deploy 4.2', approver_mobile: to[1]! }
  const pending = () => ({ ...record(), action: asked.action })
  const approved = async () => {
    const receipt = await receiptFor(asked)
    const attestation = (lie.shows ? await lie.shows(receipt, asked) : receipt) as Receipt
    const honest = { ...pending(), status: 'approved' as const, attestation }
    return lie.says ? lie.says(honest, asked) : honest
  }
  respondWith({
    [`POST ${approvals}`]: (request, response) => {
      asked = JSON.parse(request.body) as Asked
      return (lie.creates ?? success(pending()))(request, response)
    },
    [`GET ${approvals}/apr_1`]: (request, response) => {
      if (lie.answers) return lie.answers(request, response)
      void approved().then((data) => success(data)(request, response))
    },
    [`POST ${approvals}/apr_1/consume`]: success(record({ used_at: requested_at })),
    [`POST ${approvals}/apr_1/withdraw`]: success(record({ status: 'expired' })),
    'GET /svc/v1/whoami': success({ id: '3', name: 'ci', scopes: ['ask'] }),
    'GET /.well-known/jwks.json': lie.keys ?? keys(issuer.jwks),
  })
}

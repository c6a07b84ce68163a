import { json, page, redirect, text, type Answering } from '../fake-hosted.ts'

// What a tool server of another vendor answers: honest in many forms, or "approved" with one thing wrong.

export const mobile = '+12025550101'
export const pending = {
  status: 'pending',
  request_id: 'r-1',
  approver_mobile: mobile,
  expires_at: '2030-01-01T00:00:00Z',
}
export const approved = { ...pending, status: 'approved', attestation: { signature: 'c2ln' } }
const block = (said: unknown) => ({
  type: 'text',
  text: typeof said === 'string' ? said : JSON.stringify(said),
})
export const content = (...said: unknown[]) => ({ content: said.map(block) })

/** The body of the answer to a tool call, as it is sent. */
const body =
  (write: (id: unknown) => string, type = 'application/json'): Answering =>
  (request, response) =>
    text(200, write(JSON.parse(request.body).id), { 'content-type': type })(request, response)
const result = (id: unknown, said: object = content(approved)) =>
  JSON.stringify({ jsonrpc: '2.0', id, result: said })
const stream = (write: (id: unknown) => string): Answering =>
  body((id) => `event: message\ndata: ${write(id)}\n\n`, 'text/event-stream')

/** What the decided request is answered with: a result, or a whole response. */
export type Said = object | string | Answering
export const says = (changes: object) => ({ ...approved, ...changes })

export const honest: Record<string, Said> = {
  'text content': content(approved),
  'text content after a sentence': content('Approved by Ada.', approved),
  structuredContent: { content: [], structuredContent: approved },
  both: { ...content(approved), structuredContent: approved },
  'an SSE stream': stream(result),
  'an SSE stream in several lines': body(
    (id) => `: hello\r\n\r\nid: 7\r\nevent: message\r\ndata: ${result(id)}\r\n\r\n`,
    'text/event-stream; charset=utf-8',
  ),
  'no attestation': content({ status: 'approved', request_id: 'r-1' }),
  'an empty attestation': content(says({ attestation: {} })),
  'an attestation about this request': content(
    says({ attestation: { request_id: 'r-1', approver: mobile } }),
  ),
  'an attestation with the approver in an object': content(
    says({ attestation: { request_id: 'r-1', approver: { mobile } } }),
  ),
  'a masked approver': content(says({ approver_mobile: '+1••••••0101' })),
  'an approver in another spelling': content(says({ approver_mobile: '+1 (202) 555-0101' })),
  'no approver': content(says({ approver_mobile: undefined })),
  'a detail': content(says({ detail: 'Approved on the phone.' })),
}

const twice = (id: unknown, first: string, second: string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[],"structuredContent":{"request_id":"r-1","status":"${first}","status":"${second}"}}}`
const twiceInText = '{"request_id":"r-1","status":"denied","status":"approved"}'
const receipt = (changes: object) =>
  says({ attestation: { format: 'jws', kid: 'k', claims: {}, ...changes } })

const signed = (part: object) => ({ format: 'jws', kid: 'k', claims: {}, ...part })
const set = (receipts: object[], completion: object) =>
  says({ attestation: { format: 'set', receipts: receipts.map(signed), completion: signed(completion) } })

export const strange: Record<string, Said> = {
  'another approver': content(says({ approver_mobile: '+19999999999' })),
  'another approver in structuredContent': {
    content: [],
    structuredContent: says({ approver_mobile: '+19999999999' }),
  },
  'another approver, as a number': content(says({ approver_mobile: 12025550101 })),
  'another approver, by name': content(says({ approver_mobile: 'Grace' })),
  'two approvers': content(says({ approver_mobile: [mobile, '+19999999999'] })),
  'the status twice': body((id) => twice(id, 'denied', 'approved')),
  'the status twice, the other way round': body((id) => twice(id, 'approved', 'denied')),
  'the status twice in a stream': stream((id) => twice(id, 'denied', 'approved')),
  'the status twice with an escape': body((id) =>
    twice(id, 'denied', 'approved').replace('"status"', '"st\\u0061tus"'),
  ),
  'the status twice in text': { content: [block(twiceInText)] },
  'the result twice': body(
    (id) =>
      `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${JSON.stringify(content({ status: 'denied', request_id: 'r-1' }))},"result":${JSON.stringify(content(approved))}}`,
  ),
  'an attestation of another request': content(says({ attestation: { request_id: 'r-0' } })),
  'an attestation by another approver': content(says({ attestation: { approver_mobile: '+19999999999' } })),
  'an attestation of a denial': content(says({ attestation: { status: 'denied' } })),
  'an attestation with another approver in an object': content(
    says({ attestation: { approver: { mobile: '+19999999999' } } }),
  ),
  'a set of garbage': content(set([{ jws: 'a.b.c' }], { jws: 'a.b.c' })),
  'a set of another request': content(
    set([{ jws: 'a.b.c', claims: { jti: 'r-0' } }], { jws: 'a.b.c', claims: { jti: 'r-0' } }),
  ),
  'a set with a denial': content(set([{ jws: 'a.b.c', claims: { status: 'denied' } }], { jws: 'a.b.c' })),
  'a receipt of garbage': content(receipt({ jws: 'a.b.c' })),
  'a receipt without a signature': content(receipt({ jws: '' })),
  'a receipt of another request': content(
    receipt({ jws: 'a.b.c', claims: { jti: 'r-0', status: 'approved' } }),
  ),
  'an error': { ...content(approved), isError: true },
  'text that says denied': content('Denied.', approved),
  'text that says not approved': content('Not approved. As JSON:', approved),
  'text that says pending': content('Still pending', approved),
  'two decisions': content({ status: 'denied', request_id: 'r-1' }, approved),
  'two decisions, the other way round': content(approved, { status: 'denied', request_id: 'r-1' }),
  'structuredContent that says denied': {
    ...content(approved),
    structuredContent: { ...approved, status: 'denied' },
  },
  'text that says denied beside structuredContent': {
    ...content(says({ status: 'denied' })),
    structuredContent: approved,
  },
  'two ids': { ...content(approved), structuredContent: says({ request_id: 'r-2' }) },
  'the status APPROVED': content(says({ status: 'APPROVED' })),
  'the status Approved': content(says({ status: 'Approved' })),
  'the status with a space': content(says({ status: ' approved' })),
  'the status true': content(says({ status: true })),
  'the status 1': content(says({ status: 1 })),
  'the status null': content(says({ status: null })),
  'the status in a list': content(says({ status: ['approved'] })),
  'the status in an object': content(says({ status: { value: 'approved' } })),
  'the status ok': content(says({ status: 'ok' })),
  'the status success': content(says({ status: 'success' })),
  'the status in German': content(says({ status: 'genehmigt' })),
  'no status': content({ request_id: 'r-1', approved: true }),
  'a status further inside': content({ result: approved }),
  'a list': content([approved]),
  'the word approved': content('approved'),
  'the word true': content('true'),
  'JSON in JSON': content(JSON.stringify(JSON.stringify(approved))),
  'JSON that is cut off': content(JSON.stringify(approved).slice(0, -1)),
  'single quotes': content("{'status': 'approved'}"),
  'no content': { content: [] },
  'content that is null': { content: null },
  'an image': { content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }] },
  'structuredContent that is a list': { content: [], structuredContent: [approved] },
  'an empty result': { content: [block('')] },
  'a web page': page(),
  'a 204': text(204, ''),
  'a 202': text(202, ''),
  'an empty body': text(200, '', { 'content-type': 'application/json' }),
  'a redirect': redirect(302, '/approved'),
  'a 401': json(401, { jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'approved' } }),
  'a 500 with the decision': json(500, approved),
  'the decision without JSON-RPC': json(200, approved),
  'an error of JSON-RPC': body((id) =>
    JSON.stringify({ jsonrpc: '2.0', id, error: { code: 0, message: 'approved' } }),
  ),
  'a result and an error': body((id) => `${result(id).slice(0, -1)},"error":{"code":1,"message":"no"}}`),
}

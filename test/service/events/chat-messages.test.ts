import { expect, test } from 'vitest'
import { ask, createApprover, decide } from '../approver.ts'
import { dataOf, refusal } from '../fixtures.ts'
import { createRule } from '../rule-fixture.ts'
import { acme, createWebhook, installHooks, receiver, service, show, verify } from './acme-with-receiver.ts'
import type { Received } from './receiver.ts'

installHooks()

const reading = { scopes: ['read'] }

/** What a webhook gets of one request to Ada. */
const shown = async (webhook: object, action = 'Deploy <!channel> & more'): Promise<Received> => {
  const { webhook_id } = await createWebhook({ types: ['approval.requested'], ...webhook })
  expect(await show(webhook_id)).toMatchObject(webhook)
  const ada = await createApprover(service, acme.id, 1)
  await ask(service, ada, { action })
  await receiver.until(1)
  return receiver.received[0]!
}

const eventOf = ({ body }: Received) => JSON.parse(body) as { data: { request?: unknown } }

const link = /http:\/\/\S+\/approver#request=apr_[\w-]+/

test('a chat reads who is asked for what, with a link to the page', async () => {
  const { body, headers } = await shown({ format: 'text', ...reading })
  expect(headers['content-type']).toBe('text/plain; charset=utf-8')
  const [what, who, where, end] = body.split('\n')
  expect([what, who, end]).toEqual([
    'Approval requested: Deploy <!channel> & more',
    'Asked: 1 of Ada Lovelace',
    '',
  ])
  expect(where).toMatch(link)
})

test('a chat reads what is approved, and not what its requester calls it', async () => {
  const data = { name: 'shop.sql', size: 4, sha256: 'ab'.repeat(32) }
  const { webhook_id } = await createWebhook({ types: ['approval.requested'], format: 'text', ...reading })
  expect(await show(webhook_id)).toMatchObject(reading)
  const ada = await createApprover(service, acme.id, 1)
  await ask(service, ada, { action: 'Order lunch', subject: { type: 'file', data } })
  await receiver.until(1)
  expect(receiver.received[0]!.body).toMatch(/^Approval requested: File shop\.sql, 4 bytes\n/)
})

test.each(['text', 'slack', 'teams'])(
  '%s without the scope read says only that there is one',
  async (format) => {
    const { body } = await shown({ format })
    expect(body).toContain('Approval requested')
    expect(body).toMatch(/#request=apr_/)
    expect(body).not.toMatch(/Deploy|Lovelace/)
  },
)

test('nothing that a requester writes is a mention or a link in Slack', async () => {
  const { text, mrkdwn, blocks } = JSON.parse(
    (await shown({ format: 'slack', ...reading }, '<!channel> <@U1> <https://evil.example|Open> *now*')).body,
  ) as { text: string; mrkdwn: boolean; blocks: { type: string; text: { type: string; text: string } }[] }
  const escaped = 'Approval requested: &lt;!channel&gt; &lt;@U1&gt; &lt;https://evil.example|Open&gt; *now*'
  expect([text, mrkdwn]).toEqual([escaped, false])
  expect(new Set(blocks.map(({ type }) => type))).toEqual(new Set(['section']))
  expect(blocks[0]!.text).toEqual({ type: 'plain_text', text: escaped, emoji: false })
  const marked = blocks.filter((one) => one.text.type === 'mrkdwn')
  expect(marked.map((one) => one.text.text)).toEqual([
    expect.stringMatching(/^<http[^<>|]+#request=apr_[\w-]+>$/),
  ])
})

test('a card of Teams shows what a requester writes as text, and has no action', async () => {
  const { body } = await shown(
    { format: 'teams', ...reading },
    '[Approve](https://evil.example) **now** {{DATE(2030-01-31T18:00:00Z)}}',
  )
  const { type, attachments } = JSON.parse(body) as {
    type: string
    attachments: [{ contentType: string; content: { type: string; body: object[] } }]
  }
  const [{ contentType, content }] = attachments
  expect([type, contentType, content.type]).toEqual([
    'message',
    'application/vnd.microsoft.card.adaptive',
    'AdaptiveCard',
  ])
  expect(body).not.toMatch(/action"|actions"|"Action\./i)
  const text =
    'Approval requested: [Approve](https://evil.example) **now** {\u200b{DATE(2030-01-31T18:00:00Z)}}'
  expect(content.body[0]).toEqual({ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text }] })
  const blocks = content.body.filter((one) => 'text' in one)
  expect(blocks).toEqual([
    {
      type: 'TextBlock',
      text: expect.stringMatching(/^\[(http\S+#request=apr_[\w-]+)\]\(\1\)$/),
      wrap: true,
    },
  ])
})

test('names the group and the rule, and writes one line for each sentence', async () => {
  await createWebhook({ types: ['approval'], format: 'text', ...reading })
  const ada = await createApprover(service, acme.id, 1)
  const { rule } = await createRule(service, acme.id, { members: [ada.id], match: { type: 'text' } })
  const body = { action: 'Deploy\nAsked: nobody', org_id: acme.id }
  const { request_id } = dataOf(await service.call('POST', '/svc/v1/approvals', { body }))
  await receiver.until(1)
  expect(receiver.received[0]!.body.split('\n')).toEqual([
    'Approval requested: Deploy\\u{000a}Asked: nobody',
    expect.stringMatching(/^Asked: 1 of @/),
    `Rules: ${rule}`,
    expect.stringContaining(request_id),
    '',
  ])
  dataOf(await decide(service, request_id, ada.key, { decision: 'deny' }))
  await receiver.until(2)
  expect(receiver.received[1]!.body).toMatch(/^Denied: Deploy/)
})

test('another event is one line', async () => {
  await createWebhook({ types: ['member.created'], format: 'text' })
  await createApprover(service, acme.id, 1)
  await receiver.until(1)
  expect(receiver.received[0]!.body).toMatch(/^member\.created: user:\d+, by key:\d+\n$/)
})

test('an event says what is requested only to a webhook with the scope read', async () => {
  const received = await shown({ format: 'json', ...reading })
  expect(eventOf(received).data.request).toEqual({ action: 'Deploy <!channel> & more', rules: [] })
})

test('an event without the scope read has no text of a request', async () => {
  const received = await shown({ format: 'json', scopes: [] })
  expect(eventOf(received).data).not.toHaveProperty('request')
  expect(received.body).not.toContain('Deploy')
})

test('an event that says what is requested is signed', async () => {
  const { webhook_id, secret } = await createWebhook({ types: ['approval'], ...reading })
  await ask(service, await createApprover(service, acme.id, 1))
  await receiver.until(1)
  expect(verify(secret, receiver.received[0]!)).toMatchObject({ type: 'approval.requested' })
  expect(await show(webhook_id)).toMatchObject({ format: 'json', scopes: ['read'], state: 'active' })
})

test('says nothing of a request that another program changed in the store', async () => {
  const hidden = await shown({ format: 'text', ...reading })
  expect(hidden.body).toContain('Deploy')
  await service.runSql("update approvals set action = 'Give everything away'")
  const [{ webhook_id }] = dataOf(await service.call('GET', '/svc/v1/webhooks')) as [{ webhook_id: string }]
  const body = { from: '2000-01-01T00:00:00Z' }
  dataOf(await service.call('POST', `/svc/v1/webhooks/${webhook_id}/replay`, { body }))
  await receiver.until(2)
  expect(receiver.received[1]!.body).toMatch(/^Approval requested\nhttp/)
})

test('a key gives a webhook no scope that it lacks', async () => {
  const made = { name: 'hooks', org_id: acme.id, scopes: ['keys'] }
  const { key } = dataOf(await service.call('POST', '/svc/v1/keys', { body: made }))
  const body = { url: receiver.url, org_id: acme.id, format: 'slack' }
  const answer = await service.call('POST', '/svc/v1/webhooks', { key, body: { ...body, ...reading } })
  expect(refusal(answer)).toEqual([403, 'scope_missing', []])
  dataOf(await service.call('POST', '/svc/v1/webhooks', { key, body }))
})

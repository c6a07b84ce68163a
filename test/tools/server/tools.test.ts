import { describe, expect, test } from 'vitest'
import { tools as contract } from '../../../src/contract/tools.ts'
import { SvcError } from '../../../src/core/errors.ts'
import { invalid, Refusal } from '../../../src/core/refusal.ts'
import { call } from '../../service/mcp/http-tools.ts'
import { fake, installHooks, mobile, tools } from '../gateway-tools.ts'

installHooks()

describe('tools/list', () => {
  test('lists the three tools with the fields of the specification', async () => {
    const { result } = await tools.ask({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    // oxlint-disable-next-line no-explicit-any -- as it is on the wire
    const fields = Object.fromEntries(result.tools.map((one: any) => [one.name, one.inputSchema]))
    expect(Object.keys(fields)).toEqual(['request_approval', 'request_approval_async', 'check_status'])
    expect(Object.keys(fields.request_approval.properties)).toEqual([
      'action',
      'subject',
      'reason',
      'approver_mobile',
      'approvers',
      'factors',
      'timeout_s',
    ])
    expect(fields.request_approval.required).toEqual(['action'])
    expect(fields.request_approval.properties.timeout_s).toMatchObject({ type: 'integer', minimum: 1 })
    expect(fields.request_approval.properties.factors.items.enum).toEqual([
      'biometric',
      'location',
      'time',
      'device',
    ])
    expect(Object.keys(fields.request_approval_async.properties)).not.toContain('timeout_s')
    expect(fields.check_status.required).toEqual(['request_id'])
  })

  test('gives each tool a schema of its answer, and explains a missing answer', async () => {
    const { result } = await tools.ask({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    for (const tool of result.tools) {
      expect(tool.outputSchema.properties.status).toBeDefined()
      expect(tool.description).toMatch(/not consent/)
      expect(JSON.stringify(tool)).not.toMatch(/"source"|"personal"/)
      // Strict clients warn about an empty schema.
      expect(JSON.stringify(tool)).not.toContain('{}')
    }
  })
})

test('the list of the tools is short', async () => {
  const { result } = await tools.ask({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  // Four characters are about a token.
  expect(JSON.stringify(result).length / 4).toBeLessThan(1_560)
})

describe('check_status', () => {
  test('returns a state and changes nothing', async () => {
    await tools.ask(call('request_approval_async', { action: 'deploy', approver_mobile: mobile }))
    const first = await tools.ask(call('check_status', { request_id: 'apr_1' }))
    expect(first.result.structuredContent).toMatchObject({
      status: 'pending',
      request_id: 'apr_1',
      expires_at: '2096-01-01T00:05:00.000Z',
    })
    fake.end('apr_1', { status: 'approved' })
    const second = await tools.ask(call('check_status', { request_id: 'apr_1' }))
    expect(second.result.structuredContent.status).toBe('approved')
    expect(second.result.structuredContent).not.toHaveProperty('expires_at')
    expect(contract.check_status.output.safeParse(second.result.structuredContent).success).toBe(true)
  })

  test.each(['apr_9', '../apr_1', 'x'.repeat(200)])('does not know %s', async (request_id) => {
    const { result } = await tools.ask(call('check_status', { request_id }))
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^unknown request_id\. Next: .*This is not an approval\.$/) }],
    })
  })
})

describe('an error', () => {
  test.each([
    [
      new Refusal(409, 'approver_not_enrolled', 'No phone', {
        hint: 'svc user enroll <user_id> makes a link',
      }),
      'No phone. Next: tell the user that this approver has no registered phone and that an administrator must register one; do not try to do it yourself. This is not an approval.',
    ],
    [
      new Refusal(429, 'too_many_pending', '3 are pending', {
        hint: 'svc approve withdraw <request_id>',
        headers: { 'retry-after': '240' },
      }),
      '3 are pending. Next: wait for the requests that are pending: call check_status with their request_id. Try again after 240 s. This is not an approval.',
    ],
    [
      new SvcError('failed', 'connection_failed', 'The service cannot be reached', {
        hint: 'svc doctor',
        retry_after_ms: 1500,
      }),
      'The service cannot be reached. Next: tell the user. Try again after 2 s. This is not an approval.',
    ],
    [
      new SvcError('refused', 'tool_error', 'unknown request_id. Next: ask again. This is not an approval.'),
      'unknown request_id. Next: ask again. This is not an approval.',
    ],
    [
      new Refusal(409, 'ended', 'It has ended!', { hint: 'Ask again.' }),
      'It has ended! Next: Ask again. This is not an approval.',
    ],
    [
      invalid('org_id', 'is needed', 'give org_id, one of 1, 2; --org on the command line'),
      'org_id is needed. Next: tell the user that the tools need the API key of one organization, because this approver is in several. This is not an approval.',
    ],
  ])('tells an agent what to do: %s', async (error, text) => {
    fake.refuse(error)
    const { result } = await tools.ask(
      call('request_approval_async', { action: 'deploy', approver_mobile: mobile }),
    )
    expect(result).toMatchObject({ isError: true, content: [{ text }] })
  })
})

test('marks every answer of the demo', async () => {
  fake.gateway.notice = 'Only a demo.'
  fake.gateway.boundToAction = false
  const { result } = await tools.ask(call('request_approval_async', { action: 'a', approver_mobile: mobile }))
  expect(result.structuredContent).toMatchObject({ notice: 'Only a demo.', bound_to_action: false })
  const { request_id } = result.structuredContent
  fake.end(request_id, { status: 'approved' })
  const approved = await tools.ask(call('check_status', { request_id }))
  expect(approved.result.structuredContent.detail).toMatch(/^The approver .* was not shown the action/)
  expect(approved.result.structuredContent.detail).not.toContain('exactly this action')
  const refused = await tools.ask(call('check_status', { request_id: 'nope' }))
  expect(refused.result.content[0].text).toContain('Only a demo.')
})

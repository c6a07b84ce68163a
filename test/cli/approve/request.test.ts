import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cut, json } from '../../fake-hosted.ts'
import { folder, installHooks, service } from '../other-service.ts'
import { record } from './records.ts'
import { playApproving } from '../../asking/strange-answers.ts'
import { approvals, decides, respondWith, refused, sent, success, approve, to } from './approval-service.ts'

installHooks()

test('a key that may not list requests waits at the service, also if a tool server is configured', async () => {
  respondWith({
    ...decides({ status: 'denied' }),
    [`GET ${approvals}`]: refused(403, 'scope_missing'),
  })
  const tools = { SVC_MCP_URL: new URL('/mcp', service.baseUrl).href }
  expect(await approve(['wait', 'apr_1', '-o', 'json'], tools)).toMatchObject({ exit: 6 })
})

describe('svc approve request', () => {
  test('sends the request once, with an idempotency key that joins an accidental repeat', async () => {
    playApproving()
    const { exit } = await approve([
      'request',
      'Deploy 4.2',
      ...to,
      '--number',
      '--reason',
      'why',
      '-o',
      'json',
    ])
    const [request, ...more] = sent('POST', approvals)
    expect(JSON.parse(request!.body)).toEqual({
      action: 'Deploy 4.2',
      reason: 'why',
      approvers: ['+12025550101'],
      number: true,
    })
    expect(request!.headers['idempotency-key']).toMatch(/^[\w-]{20,}$/)
    expect(more).toEqual([])
    expect(exit).toBe(0)
  })
  test('takes approver, factors and requester from the environment, and flags override them', async () => {
    respondWith(decides({ status: 'approved' }))
    const env = {
      SVC_DEFAULT_MOBILE: '+12025550109',
      SVC_DEFAULT_FACTORS: 'biometric, location',
      SVC_REQUEST_FROM: 'CI',
    }
    await approve(['request', 'Deploy'], env)
    await approve(['request', 'Deploy', ...to, '--factors', 'time', '--requester', 'me'], env)
    expect(sent('POST', approvals).map(({ body }) => JSON.parse(body))).toMatchObject([
      { approvers: ['+12025550109'], default_factors: ['biometric', 'location'], requester: 'CI' },
      { approvers: ['+12025550101'], factors: ['time'], requester: 'me' },
    ])
  })
  test.each([
    ['denied', 6],
    ['expired', 7],
  ] as const)('exits with the code of the decision: %s', async (status, code) => {
    respondWith(decides({ status }))
    const { exit, out } = await approve(['request', 'Deploy', ...to, '-o', 'json'])
    expect(JSON.parse(out)).toMatchObject({ status })
    expect(exit).toBe(code)
  })
  test.each([
    ['a cut connection', cut, 9],
    ['an error of the service', refused(503, 'unavailable'), 1],
    ['a rate limit', refused(429, 'limited'), 9],
  ] as const)('sends the request once and never again after %s', async (_, answer, code) => {
    // Even if the service supports Idempotency-Key, which allows plain writes to be retried.
    const health = json(200, { ok: true, transport: 'http' }, { 'svc-idempotency': '24h' })
    respondWith({ [`POST ${approvals}`]: answer, 'GET /health': health })
    const { exit } = await approve(['request', 'Deploy', ...to])
    expect(sent('POST', approvals)).toHaveLength(1)
    expect(exit).toBe(code)
  })
  test('says after a broken connection that the phone may have been notified, and where to check', async () => {
    respondWith({ [`POST ${approvals}`]: cut })
    const { err } = await approve(['request', 'Deploy', ...to])
    expect(err).toContain('may have been notified')
    expect(err).toContain('svc approve list --status pending')
  })
  test.each([
    [['request'], /Missing <action>/],
    [['request', '   ', ...to], /The action must not be empty/],
    [['request', 'Deploy', ...to, '--timeout', '0'], /--timeout must be 1 to 86400/],
    [['request', 'Deploy', ...to, '--timeout', '1000000000'], /--timeout must be 1 to 86400/],
    [['request', 'Deploy', ...to, '--timeout', 'soon'], /--timeout must be seconds, such as 300 or 5m/],
    [['request', 'Deploy', ...to, '--factors', 'face'], /--factors must be/],
    [['request', 'Deploy', ...to, '--receipt', 'no/such/folder/r.json'], /--receipt: cannot write/],
    [['wait'], /Missing <request-id>/],
    [['wait', 'apr_1', '--timeout', '0'], /--timeout must be seconds, 1 or more/],
    [['request', 'Deploy', ...to, '--mcp'], /No tool server is configured/],
    [['inbox'], /requires a terminal or a decision/],
    [['inbox', '--approve', 'a', '--deny', 'b'], /Use only one of/],
    [['inbox', '--note', 'no'], /--note requires --deny or --not-me/],
    [['inbox', '--approve', 'a', '--note', 'no'], /--note requires --deny or --not-me/],
    [['inbox', '--deny', 'a', '--note', ' '], /--note: must not be empty/],
    [['inbox', '--deny', 'a', '--note', 'x'.repeat(281)], /--note: must have at most 280 characters/],
    [['inbox', '--deny', 'a', '--note', 'a\u202eb'], /--note: must not contain .*invisible/],
    [['inbox', '--deny', 'a', '--number', '42'], /--number requires --approve/],
  ])('%j is rejected before anything is sent', async (args, message) => {
    const { exit, err } = await approve(args)
    expect(err).toMatch(message)
    expect(exit).toBe(2)
    expect(service.seen).toEqual([])
  })
  test.each([[['request', 'Deploy']], [['run', '--action', 'Deploy', '--', '/bin/true']]])(
    '%j asks nobody by name, and says what to type if no rule asks anybody',
    async (args) => {
      const issues = [{ field: 'approvers', message: 'must name somebody' }]
      const data = { code: 'invalid_field', issues, hint: 'Name a person or a group: --to +12025550101' }
      const message = 'approvers must name somebody'
      respondWith({
        [`POST ${approvals}`]: json(422, { status: 'error', message, data }),
        'GET /svc/v1/whoami': json(200, { status: 'success', message: '', data: { scopes: ['ask'] } }),
      })
      const { exit, err } = await approve(args)
      expect(err).toContain('--to must name somebody')
      expect(err).toContain('hint: Name a person or a group: --to')
      expect(exit % 100).toBe(2)
      expect(sent('POST', approvals).map(({ body }) => Object.keys(JSON.parse(body)))).toEqual([
        expect.not.arrayContaining(['approvers']),
      ])
    },
  )
  test.each([
    ['request', 'Deploy', ...to],
    ['run', '--action', 'Deploy', ...to, '--', '/bin/true'],
  ])('prints what %s would send with --dry-run, and sends nothing', async (...args) => {
    const { exit, out } = await approve([args[0]!, '--dry-run', ...args.slice(1)])
    expect(out).toContain(`POST ${service.origin}${approvals}`)
    expect(out).toContain('"action": "Deploy"')
    expect(exit).toBe(0)
    expect(service.seen).toEqual([])
  })
  test('saves the receipt in a new private file, and never overwrites one', async () => {
    playApproving()
    const { exit, err } = await approve(['request', 'Deploy', ...to, '--receipt', 'r.json'])
    expect([exit, err]).toEqual([0, expect.stringContaining('Approved by')])
    const path = join(folder.path, 'r.json')
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ claims: { jti: 'apr_1' } })
    const again = await approve(['request', 'Deploy', ...to, '--receipt', 'r.json'])
    expect(again).toMatchObject({ exit: 2, err: expect.stringContaining('is not overwritten') })
    expect(sent('POST', approvals)).toHaveLength(1)
  })
  test('leaves no empty file when there is no receipt', async () => {
    respondWith(decides({ status: 'expired' }))
    await approve(['request', 'Deploy', ...to, '--receipt', 'r.json'])
    expect(existsSync(join(folder.path, 'r.json'))).toBe(false)
  })
  test.each([undefined, null, {}, { status: 'approved' }, 'approved', { request_id: 1, status: 'approved' }])(
    'does not take the response %j as an approval',
    async (data) => {
      respondWith({ [`POST ${approvals}`]: success(data) })
      expect((await approve(['request', 'Deploy', ...to])).exit).toBe(1)
    },
  )
})

describe('another service of the contract, which prompts without showing an action', () => {
  test.each([
    ['request', 1, ['request', 'Deploy', ...to]],
    ['run', 101, ['run', '--action', 'Deploy', ...to, '--', '/bin/true']],
  ])('is not used by %s: nobody is prompted', async (_, code, args) => {
    respondWith({
      'POST /verify-user': success(undefined),
      'POST /validate/global/auth': refused(409, 'pending'),
    })
    const { exit, err } = await approve(args)
    expect(err).toContain('has no approvals (/svc/v1/approvals)')
    expect(sent('POST', '/verify-user')).toEqual([])
    expect(exit).toBe(code)
  })
})

test.each([
  ['in the first response', { [`POST ${approvals}`]: success(record({ status: 'approved' })) }],
  ['of another request', decides({ status: 'approved', request_id: 'apr_2' })],
  ['in an unknown word', decides({ status: 'APPROVED' as 'approved' })],
])('does not accept an approval %s', async (_, answers) => {
  respondWith(answers)
  const { exit, err } = await approve(['request', 'Deploy', ...to])
  expect(err).toContain('This is not an approval')
  expect(exit).toBe(1)
})

import { describe, expect, test, vi } from 'vitest'
import { meanings, tools as contract } from '../../../src/contract/tools.ts'
import { invalid, Refusal } from '../../../src/core/refusal.ts'
import { call, messageOf } from '../../service/mcp/http-tools.ts'
import { fake, installHooks, mobile, tools } from '../gateway-tools.ts'

installHooks()

const request = (args: object, more = {}) => tools.ask(call('request_approval', args, more))

/** Calls `request_approval`, and runs `decide` once the request is sent. */
const whileAsked = async (args: object, decide: () => void, more = {}) => {
  const requested = fake.nextAsk()
  const answer = request({ action: 'deploy', approver_mobile: mobile, ...args }, more)
  await requested
  await Promise.resolve()
  setImmediate(decide)
  return answer
}

describe('request_approval', () => {
  test('returns the decision in a few words, with the receipt next to them', async () => {
    const attestation = { format: 'jws' as const, jws: 'a.b.c', kid: 'k', claims: {} }
    const { result } = await whileAsked({}, () => fake.end('apr_1', { status: 'approved', attestation }))
    const short = {
      status: 'approved',
      request_id: 'apr_1',
      detail: 'Approved. Do exactly this action, once.',
    }
    expect(JSON.parse(result.content[0].text)).toEqual(short)
    expect(result.structuredContent).toEqual({
      ...short,
      attestation: { format: 'jws', jws: 'a.b.c', kid: 'k' },
    })
    expect(contract.request_approval.output.safeParse(result.structuredContent).success).toBe(true)
    expect(result.isError).toBeUndefined()
  })

  test('leaves the decoded copies out of the receipts of several people', async () => {
    const receipt = { format: 'jws' as const, jws: 'a.b.c', kid: 'k', claims: {} }
    const attestation = { format: 'set' as const, receipts: [receipt, receipt], completion: receipt }
    const { result } = await whileAsked({}, () => fake.end('apr_1', { status: 'approved', attestation }))
    const { claims, ...short } = receipt
    expect(claims).toEqual({})
    expect(result.structuredContent.attestation).toEqual({
      format: 'set',
      receipts: [short, short],
      completion: short,
    })
  })

  test('labels the note of a denial as the words of the approver', async () => {
    const detail = `Denied: "Not now" (the approver's words)`
    const { result } = await whileAsked({}, () =>
      fake.end('apr_1', { status: 'denied', note: 'Not now', detail }),
    )
    expect(result.structuredContent.detail).toBe(`${meanings.denied} ${detail}.`)
  })

  test.each(['denied', 'expired'] as const)('says plainly that %s is not an approval', async (status) => {
    const { result } = await whileAsked({}, () => fake.end('apr_1', { status }))
    expect(result.structuredContent.status).toBe(status)
    expect(result.structuredContent.detail).toMatch(/[Dd]o not do it/)
  })

  test('returns everything as text if the protocol has no structured content', async () => {
    const attestation = { format: 'jws' as const, jws: 'a.b.c', kid: 'k', claims: {} }
    const requested = fake.nextAsk()
    const answer = tools.send(call('request_approval', { action: 'deploy', approver_mobile: mobile }), {
      headers: { 'mcp-protocol-version': '2025-03-26' },
    })
    await requested
    setImmediate(() => fake.end('apr_1', { status: 'approved', attestation }))
    const { result } = await messageOf(await answer)
    expect(result.structuredContent).toBeUndefined()
    expect(JSON.parse(result.content[0].text)).toMatchObject({
      status: 'approved',
      attestation: { jws: 'a.b.c' },
    })
  })

  test('stays pending exactly as long as it waits; without timeout_s, five minutes', async () => {
    await whileAsked({ timeout_s: 7 }, () => fake.end('apr_1', { status: 'denied' }))
    await whileAsked({}, () => fake.end('apr_2', { status: 'denied' }))
    expect(fake.asks.map((ask) => ask.lifetime_s)).toEqual([7, 300])
  })

  test.each([
    ['50 s where the client takes no progress', undefined, 50],
    ['two minutes where it does', { progressToken: 'p' }, 120],
  ])('waits %s, and leaves the request open', async (_, meta, seconds) => {
    const waits: number[] = []
    const { wait } = fake.gateway
    fake.gateway.wait = (id, s, signal) => {
      waits.push(s - 2)
      return wait(id, s, signal)
    }
    const { result } = await whileAsked({}, () => fake.giveUp('apr_1'), meta && { _meta: meta })
    expect(waits).toEqual([seconds])
    expect(result.structuredContent).toMatchObject({
      status: 'pending',
      request_id: 'apr_1',
      expires_at: '2096-01-01T00:05:00.000Z',
      detail: expect.stringContaining('check_status'),
    })
    expect(fake.withdrawn).toEqual([])
  })

  test('withdraws the request if there is no decision within timeout_s', async () => {
    const { result } = await whileAsked({ timeout_s: 7 }, () => fake.giveUp('apr_1'))
    expect(fake.withdrawn).toEqual(['apr_1'])
    expect(result.structuredContent).toMatchObject({ status: 'expired' })
  })

  test('returns a decision from just before the withdrawal', async () => {
    const { withdraw } = fake.gateway
    fake.gateway.withdraw = async (id) => {
      fake.end(id, { status: 'approved' })
      await withdraw(id)
    }
    const { result } = await whileAsked({ timeout_s: 7 }, () => fake.giveUp('apr_1'))
    expect(result.structuredContent.status).toBe('approved')
  })

  test('withdraws the request if the wait fails, and says that it is not an approval', async () => {
    fake.gateway.wait = async () => {
      throw new Refusal(503, 'unwell', 'The store is away')
    }
    const { result } = await request({ action: 'deploy', approver_mobile: mobile })
    expect(fake.withdrawn).toEqual(['apr_1'])
    expect(result).toMatchObject({ isError: true })
    expect(result.content[0].text).toBe('The store is away. This is not an approval.')
  })

  test('leaves it to rules whom to ask if there is no default', async () => {
    const { result } = await whileAsked({ approver_mobile: undefined }, () =>
      fake.end('apr_1', { status: 'approved' }),
    )
    expect(result.structuredContent).toMatchObject({ status: 'approved' })
    expect(fake.asks).toMatchObject([{ approvers: undefined }])
  })

  test.each([
    [
      invalid('approvers', 'must name somebody', 'Name a person or a group: --to +12025550101 or --to @sre'),
      /^approvers must name somebody\. Next: ask the user for the mobile number of the approver, and pass it as approver_mobile/,
    ],
    [
      invalid('reason', 'is required by the rule destroy: Incident', "Say why: --reason 'INC-77'"),
      /^reason is required by the rule destroy: Incident\. Next: ask the user for the reason, and pass it as reason, such as 'INC-77'\./,
    ],
  ])('says what a rule lacks (%#)', async (refusal, text) => {
    fake.refuse(refusal)
    const { result } = await request({ action: 'deploy' })
    expect(result.content[0].text).toMatch(text)
  })

  test('hides an internal error, and logs it', async () => {
    fake.refuse(new Error('secret path /x'))
    const { result } = await request({ action: 'deploy', approver_mobile: mobile })
    expect(result.content[0].text).not.toContain('/x')
    expect(result.isError).toBe(true)
    expect(tools.trace.error).toContain('secret path /x')
  })

  test.each([
    [{ action: '' }, /^action must not be empty/],
    [{ action: '   ' }, /^action must not be blank/],
    [{ action: 'x'.repeat(100_000) }, /^action must have at most 500 characters/],
    [{ action: 7 }, /^action must be text/],
    [{ action: 'a\u0000b' }, /^action must not contain control, invisible/],
    [{ action: '\ud800' }, /^action must not contain .* unpaired surrogate/],
    [{ action: 'pay 10\u202e001' }, /^action must not contain .* direction-changing/],
    [{ action: 'de\u200bploy' }, /^action must not contain control, invisible/],
    [{ action: 'a', reason: '\u{e0041}' }, /^reason must not contain control, invisible/],
    [{}, /^action is missing/],
    [{ action: 'a', timeout_s: 0 }, /^timeout_s must be 1 or more/],
    [{ action: null }, /^action is missing/],
    [{ action: 'a', timeout_s: 1.5 }, /^timeout_s must be a whole number/],
    [{ action: 'a', timeout_s: '60' }, /^timeout_s must be a whole number/],
    [{ action: 'a', approver_mobile: '2025550101' }, /^approver_mobile must be a phone number in E.164/],
    [{ action: 'a', approver_mobile: '' }, /^approver_mobile must be a phone number in E.164/],
    [{ action: 'a', factors: ['retina'] }, /^factors\[0\] must be biometric, location, time or device/],
    [{ action: 'a', factors: 'biometric' }, /^factors must be a list/],
    [{ action: 'a', mobile: mobile }, /^mobile is not a known field/],
  ])('refuses %j as a result, and notifies nobody', async (args, text) => {
    const { result } = await request(args)
    expect(result.isError).toBe(true)
    expect(result.content[0].text).toMatch(text)
    expect(result.content[0].text).toMatch(/This is not an approval\.$/)
    expect(fake.asks).toEqual([])
  })

  test('takes null for a field that was left out', async () => {
    const empty = { subject: null, reason: null, factors: null, timeout_s: null }
    const { result } = await whileAsked(empty, () => fake.end('apr_1', { status: 'approved' }))
    expect(result.structuredContent).toMatchObject({ status: 'approved' })
    expect(fake.asks).toMatchObject([{ action: 'deploy', factors: undefined, reason: undefined }])
  })

  test('waits at most 600 seconds, and says so to a client that asks for more', async () => {
    const { result } = await whileAsked({ timeout_s: 3600 }, () => fake.end('apr_1', { status: 'approved' }))
    expect(result.structuredContent.detail).toContain('timeout_s was lowered to 600, the maximum.')
    expect(fake.asks).toMatchObject([{ lifetime_s: 600 }])
  })

  test.each(['Zeile eins\nZeile zwei', 'می‌خواهم', 'ship it 👩‍🚀 ⚠️'])(
    'asks for %j as it stands',
    async (action) => {
      await tools.ask(call('request_approval_async', { action, approver_mobile: mobile }))
      expect(fake.asks[0]!.action).toBe(action)
    },
  )

  test('refuses timeout_s in the asynchronous tool', async () => {
    const { result } = await tools.ask(
      call('request_approval_async', { action: 'a', approver_mobile: mobile, timeout_s: 5 }),
    )
    expect(result.content[0].text).toMatch(/^timeout_s is not a known field/)
  })
})

test('reports progress immediately and every ten seconds', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  try {
    const requested = fake.nextAsk()
    const answer = tools.send(
      call('request_approval', { action: 'd', approver_mobile: mobile }, { _meta: { progressToken: 7 } }),
    )
    await requested
    await new Promise(setImmediate)
    await vi.advanceTimersByTimeAsync(20_000)
    fake.end('apr_1', { status: 'approved' })
    const events = (await (await answer).text()).match(/"progress":\d+/g)
    expect(events).toEqual(['"progress":0', '"progress":10', '"progress":20'])
  } finally {
    vi.useRealTimers()
  }
})

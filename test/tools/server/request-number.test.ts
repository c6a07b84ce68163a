import { beforeEach, describe, expect, test } from 'vitest'
import { tools as contract } from '../../../src/contract/tools.ts'
import { call } from '../../service/mcp/http-tools.ts'
import { fake, installHooks, mobile, start, tools } from '../gateway-tools.ts'

installHooks()

describe('a number', () => {
  beforeEach(() => start({ number: '42' }))

  test('is in the asynchronous answer', async () => {
    const { result } = await tools.ask(
      call('request_approval_async', { action: 'deploy', approver_mobile: mobile }),
    )
    expect(result.structuredContent).toMatchObject({
      status: 'pending',
      request_id: 'apr_1',
      approver_mobile: mobile,
      expires_at: '2096-01-01T00:05:00.000Z',
      number: '42',
    })
    expect(contract.request_approval_async.output.safeParse(result.structuredContent).success).toBe(true)
  })

  test('is returned immediately if it cannot be shown otherwise, and the request stays open', async () => {
    const { result } = await tools.ask(
      call('request_approval', { action: 'deploy', approver_mobile: mobile }),
    )
    expect(result.structuredContent).toMatchObject({ status: 'pending', request_id: 'apr_1', number: '42' })
    expect(result.content[0].text).toContain('Tell the user: the number to type on the phone is 42.')
    expect(fake.withdrawn).toEqual([])
  })

  test('is returned in time to be passed on if the progress may be invisible', async () => {
    const waits: number[] = []
    fake.gateway.wait = async (id, seconds) => {
      waits.push(seconds - 2)
      return fake.gateway.status(id)
    }
    const { result } = await tools.ask(
      call(
        'request_approval',
        { action: 'deploy', approver_mobile: mobile, timeout_s: 60 },
        { _meta: { progressToken: 'p' } },
      ),
    )
    expect(waits).toEqual([30])
    expect(result.structuredContent).toMatchObject({ status: 'pending', number: '42' })
  })

  test('is reported with the progress', async () => {
    const requested = fake.nextAsk()
    const answer = tools.send(
      call('request_approval', { action: 'd', approver_mobile: mobile }, { _meta: { progressToken: 'p' } }),
    )
    await requested
    setImmediate(() => fake.end('apr_1', { status: 'approved' }))
    const text = await (await answer).text()
    expect(text).toContain('The number to type on the phone is 42.')
    expect(text).toContain('"status":"approved"')
  })
})

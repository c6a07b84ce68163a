import type { Context } from 'hono'
import { expect, test } from 'vitest'
import { createProbes, type Phase } from '../../../src/service/http/health.ts'
import { periodsOf } from '../../../src/service/config/retention.ts'
import { startTestService } from '../harness.ts'

test('a load balancer sees whether the service starts, serves or stops', async () => {
  const { storage, close } = await startTestService()
  let phase: Phase = 'starting'
  const ready = createProbes({ storage, periods: periodsOf() }, () => phase).find(
    ({ path }) => path === '/health/ready',
  )!
  const ask = async (): Promise<unknown[]> => {
    const answer = await ready.respond({} as Context, { id: 'req_1' })
    return [answer.status, await answer.json()]
  }
  expect(await ask()).toEqual([503, { ok: false, reason: 'starting' }])
  phase = 'serving'
  expect(await ask()).toEqual([200, { ok: true }])
  phase = 'stopping'
  expect(await ask()).toEqual([503, { ok: false, reason: 'stopping' }])
  await close()
})

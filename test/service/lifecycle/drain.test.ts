import { expect, test } from 'vitest'
import { ask, installHooks, start } from '../started.ts'

installHooks()

test('with a drain, a stop first leaves the load balancer while requests go on', async () => {
  const service = await start({ drainMs: 1_000 })
  const ready = async () => {
    const answer = await fetch(new URL('/health/ready', service.healthUrl))
    return [answer.status, await answer.json()]
  }
  expect(await ready()).toEqual([200, { ok: true }])
  const stopped = service.stop()
  expect(await ready()).toEqual([503, { ok: false, reason: 'stopping' }])
  const body = JSON.stringify({ name: 'Late', slug: 'late' })
  const late = await ask(service, '/organization/create', service.operatorKey!, { method: 'POST', body })
  expect([late.status, late.headers.get('connection')]).toEqual([200, 'close'])
  await stopped
  await expect(ready()).rejects.toThrow('fetch failed')
})

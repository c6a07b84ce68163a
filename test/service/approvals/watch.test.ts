import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { LogRecord } from '../../../src/core/log.ts'
import { watchApprovals } from '../../../src/service/approvals/expiry.ts'
import { ask, createApprover, show, type Approver } from '../approver.ts'
import { createClock, minute } from '../clock.ts'
import { createTenant, dataOf } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'

const clock = createClock()
let service: TestService
let log: LogRecord[]
let request_id: string
let acme: { id: number }
let ada: Approver
beforeEach(async () => {
  log = []
  service = await startTestService({ dev: true, now: clock.now })
  acme = await createTenant(service, 'acme')
  ada = await createApprover(service, acme.id, 1)
  request_id = dataOf(await ask(service, ada)).request_id
})
afterEach(() => service.close())

const row = () =>
  service.storage.read((db) =>
    db.selectFrom('approvals').where('request_id', '=', request_id).select('status').executeTakeFirst(),
  )

test('a request ends in the store without any reader', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const stop = watchApprovals(service.service, (record) => log.push(record))
  clock.tick(6 * minute)
  vi.advanceTimersByTime(5_000)
  vi.useRealTimers()
  await expect.poll(row).toEqual({ status: 'expired' })
  stop()
})

test('warns of devices that cannot sign at this address, and of no others', async () => {
  const start = async (publicUrl: string): Promise<void> => {
    const stop = watchApprovals({ ...service.service, publicUrl }, (record) => log.push(record))
    await service.storage.read((db) => db.selectFrom('settings').selectAll().execute())
    stop()
  }
  await start('http://localhost:9')
  await start('http://127.0.0.1:9')
  expect(log).toEqual([])
  await start('https://svc.example.com')
  await expect.poll(() => log).not.toEqual([])
  expect(log).toMatchObject([{ level: 'warn', message: expect.stringContaining('registered for localhost') }])
  expect(log[0]?.message).toContain(`device ${ada.device} of organization ${acme.id}`)
  expect(log[0]?.message).toContain('svc user devices revoke')
  expect(dataOf(await show(service, request_id)).status).toBe('pending')
})

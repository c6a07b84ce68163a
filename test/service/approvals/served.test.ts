import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { challengeOf } from '../../../src/receipt/context.ts'
import { assert } from '../../../src/client/software-authenticator.ts'
import type { LogRecord } from '../../../src/core/log.ts'
import { startService, type RunningService } from '../../../src/service/lifecycle/serve.ts'
import { enrollApprover, request, type EnrolledApprover } from '../../torture/enrolled-approver.ts'
import { temporaryFolder } from '../../temporary-folder.ts'

// Over real sockets: what only a client that goes away, or a service that stops, can show.

let folder: string
let remove: () => void
let service: RunningService
let log: LogRecord[]
let ada: EnrolledApprover
const key = 'k'.repeat(40)
const call = ((id, input) => request(service.baseUrl, id, key, input)) as <
  K extends Parameters<typeof request>[1],
>(
  id: K,
  input: Record<string, unknown>,
) => ReturnType<typeof request<K>>

beforeEach(async () => {
  ;({ path: folder, remove } = temporaryFolder())
  log = []
  service = await startService({
    port: 0,
    dataDir: join(folder, 'data'),
    dev: true,
    env: { SVC_BOOTSTRAP_API_KEY: key },
    log: (record) => log.push(record),
  })
  const { id } = await call('createOrganization', { name: 'Acme' })
  ada = await enrollApprover(service.baseUrl, key, id)
})
afterEach(async () => {
  await service.stop()
  remove()
})

const ask = () => call('createApproval', { action: 'Deploy', approvers: [ada.mobile] })
const wait = (request_id: string) => call('getApproval', { request_id, wait_s: 60 })

const shown = (): number => log.filter(({ route }) => route === '/svc/v1/approvals/:request_id').length

test('a wait over HTTP ends with the decision, and the log of a development service shows the notification', async () => {
  const { request_id } = await ask()
  expect(log.find(({ message }) => message?.includes(request_id))).toBeDefined()
  const waiting = wait(request_id)
  const { contexts, origin, rp_id: rpId } = await call('getCeremony', { request_id })
  expect(origin).toBe(`http://localhost:${new URL(service.baseUrl).port}`)
  const context = new Uint8Array(Buffer.from(contexts.approve, 'base64url'))
  const response = assert(ada.authenticator, { challenge: challengeOf(context), origin, rpId })
  await call('decideApproval', { request_id, decision: 'approve', response })
  expect(await waiting).toMatchObject({ status: 'approved' })
})

test('a service that stops answers waiting callers immediately', async () => {
  const { request_id } = await ask()
  const waiting = wait(request_id)
  // Answered by the same service, so the wait has arrived before.
  await call('getApproval', { request_id })
  const began = performance.now()
  await service.stop()
  expect(await waiting).toMatchObject({ status: 'pending' })
  expect(performance.now() - began).toBeLessThan(5_000)
})

test('the wait of a client that disconnects ends', async () => {
  const { request_id } = await ask()
  const url = new URL(service.baseUrl)
  const gone = httpRequest({
    host: url.hostname,
    port: url.port,
    path: `/svc/v1/approvals/${request_id}?wait_s=60`,
    headers: { 'x-api-key': key },
  })
  gone.on('error', () => undefined).end()
  await call('getApproval', { request_id })
  gone.destroy()
  await expect.poll(shown).toBe(2)
})

import { expect, onTestFinished, test } from 'vitest'
import type { NodeMessage } from '../../../src/service/storage/node-message.ts'
import { ask, createApprover, decide } from '../approver.ts'
import { createTenant, dataOf } from '../fixtures.ts'
import { startTestService } from '../harness.ts'

test('other nodes are told the ids of a request that changed, and never its text', async () => {
  const service = await startTestService({ dev: true })
  onTestFinished(() => service.close())
  const told: NodeMessage[] = []
  service.storage.publish = (message) => void told.push(message)
  const acme = await createTenant(service, 'acme')
  const approver = await createApprover(service, acme.id, 1)
  const { request_id } = dataOf(await ask(service, approver, { action: 'A secret plan' }))
  dataOf(await decide(service, request_id, approver.key))
  const wakes = told.flatMap(({ kind, value }) => (kind === 'wake' && value.request_id ? [value] : []))
  expect(wakes.length).toBeGreaterThan(0)
  for (const wake of wakes)
    expect(wake).toEqual({ request_id, org_id: acme.id, users: [Number(approver.id)] })
  expect(JSON.stringify(told)).not.toContain('A secret plan')
})

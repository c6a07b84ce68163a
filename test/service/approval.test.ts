import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ask, createApprover, decide, show, type Approver } from './approver.ts'
import { createTenant, dataOf } from './fixtures.ts'
import { startTestService, type TestService } from './harness.ts'

let service: TestService
let acme: { id: number; key: string }
let ada: Approver
beforeEach(async () => {
  service = await startTestService({ dev: true })
  acme = await createTenant(service, 'acme')
  ada = await createApprover(service, acme.id, 1)
})
afterEach(() => service.close())

describe('a request', () => {
  test('is approved by the approver, and its receipt verifies offline', async () => {
    const asked = dataOf(await ask(service, ada, { reason: 'release day' }, acme.key))
    expect(asked).toMatchObject({ status: 'pending', requester: 'of acme' })
    expect(dataOf(await decide(service, asked.request_id, ada.key))).toMatchObject({ status: 'approved' })
    expect(dataOf(await show(service, asked.request_id, acme.key)).attestation.format).toBe('jws')
  })
})

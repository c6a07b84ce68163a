import { setTimeout as sleep } from 'node:timers/promises'
import { createApprover, decide, type Approver, type Deciding } from '../service/approver.ts'
import { createTenant } from '../service/fixtures.ts'
import type { Answer, TestService } from '../service/harness.ts'

/** A running service behind the interface that the tests of the service use in process. */
export const remote = (baseUrl: string, operatorKey: string): TestService => {
  const call = async (
    method: string,
    path: string,
    { key = operatorKey, body, headers = {} }: { key?: string | null; body?: unknown; headers?: object } = {},
  ): Promise<Answer> => {
    const url = path.startsWith('/svc/') ? new URL(path, baseUrl) : baseUrl + path
    const response = await fetch(url, {
      method,
      headers: {
        ...(key !== null && { 'x-api-key': key }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
    })
    return {
      status: response.status,
      body: await response.json(),
      headers: Object.fromEntries(response.headers),
    }
  }
  return { call, operatorKey } as unknown as TestService
}

/** Creates a person with a registered phone. */
export const createPerson = async (service: TestService, n: number) => {
  const slug = `acme-${n}`
  const org = { slug, ...(await createTenant(service, slug)) }
  const approver: Approver = await createApprover(service, org.id, n)
  const requests = async (status: string): Promise<{ request_id: string; detail: string | null }[]> =>
    (
      await service.call(
        'GET',
        `/svc/v1/approvals?status=${status}&approver_mobile=${encodeURIComponent(approver.mobile)}`,
      )
    ).body.data

  /** Waits for a pending request. */
  const waitForRequest = async (): Promise<string> => {
    for (;;) {
      const [first] = await requests('pending')
      if (first) return first.request_id
      await sleep(20)
    }
  }
  return {
    org,
    id: approver.id,
    mobile: approver.mobile,
    key: approver.key,
    requests,
    waitForRequest,
    requireNumber: async (): Promise<void> => {
      const body = { policy: { require_number: true } }
      const { status } = await service.call('PUT', `/organization/${org.id}/update`, { body })
      if (status !== 200) throw new Error(`The policy was answered with ${status}`)
    },
    answer: async (deciding: Deciding = { decision: 'approve' }): Promise<string> => {
      const id = await waitForRequest()
      const { status, body } = await decide(service, id, approver.key, deciding)
      if (status !== 200) throw new Error(JSON.stringify(body))
      return id
    },
  }
}
export type Person = Awaited<ReturnType<typeof createPerson>>

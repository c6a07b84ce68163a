import type { ApprovalRecord } from '../../src/contract/approval.ts'
import type { Ask, ApprovalGateway } from '../../src/contract/approval-gateway.ts'
import { Refusal, notFound } from '../../src/core/refusal.ts'

type Ending = Pick<ApprovalRecord, 'status'> & Partial<ApprovalRecord>

/** A gateway on which the test decides. */
export const createFakeGateway = (about: Partial<ApprovalRecord> = {}) => {
  const requests = new Map<string, ApprovalRecord>()
  const woken = new Map<string, (() => void)[]>()
  const asks: Ask[] = []
  const withdrawn: string[] = []
  let onRequest: (() => void) | undefined
  let refusal: Error | undefined

  const find = (request_id: string): ApprovalRecord => {
    const record = requests.get(request_id)
    if (!record) throw notFound('Request')
    return { ...record }
  }
  const wake = (request_id: string): void => woken.get(request_id)?.forEach((go) => go())
  const end = (request_id: string, ending: Ending): void => {
    Object.assign(requests.get(request_id)!, ending)
    wake(request_id)
  }

  const gateway: ApprovalGateway = {
    boundToAction: true,
    request: async (ask) => {
      if (refusal) throw refusal
      asks.push(ask)
      const request_id = `apr_${asks.length}`
      requests.set(request_id, {
        request_id,
        org_id: 1,
        status: 'pending',
        action: ask.action,
        reason: ask.reason ?? null,
        requester: ask.requester ?? 'key',
        verified_as: null,
        approver_mobile: ask.approvers?.[0] ?? '',
        factors: ask.factors ?? ['biometric'],
        number: null,
        detail: null,
        requested_at: '2026-01-01T00:00:00.000Z',
        expires_at: '2096-01-01T00:05:00.000Z',
        decided_at: null,
        ruling: null,
        attestation: null,
        subject: null,
        use_by: null,
        used_at: null,
        ...about,
      })
      onRequest?.()
      return find(request_id)
    },
    status: async (request_id) => find(request_id),
    wait: (request_id, _seconds, signal) =>
      new Promise((resolve) => {
        const go = (): void => resolve(find(request_id))
        woken.set(request_id, [...(woken.get(request_id) ?? []), go])
        signal?.addEventListener('abort', go)
      }),
    withdraw: async (request_id, why) => {
      if (find(request_id).status !== 'pending') throw new Refusal(409, 'decided', 'Decided already')
      withdrawn.push(request_id)
      end(request_id, { status: 'expired', detail: `withdrawn because ${why}` })
    },
  }

  return {
    gateway,
    asks,
    withdrawn,
    end,
    /** Every further request fails. */
    refuse: (error: Error): void => void (refusal = error),
    /** Resolves with the next request. */
    nextAsk: (): Promise<void> =>
      new Promise((resolve) => {
        onRequest = resolve
      }),
    /** Ends the wait without a decision. */
    giveUp: wake,
  }
}

export type FakeGateway = ReturnType<typeof createFakeGateway>

import type { Service } from '../call/service.ts'
import { answer } from './envelope.ts'

/** What the process is doing. */
export type Phase = 'starting' | 'serving' | 'stopping'

const hourMs = 60 * 60_000

type Probe = { path: string; respond(requestId: string): Promise<Response> }

/** Probes for whoever watches the service. They need no key, tell nothing about the data, and cost next to nothing. */
export const createProbes = (
  { storage, periods }: Pick<Service, 'storage' | 'periods'>,
  phase: () => Phase,
): Probe[] => [
  {
    path: '/health',
    respond: async (id) =>
      answer(200, { ok: await storage.canWrite(), transport: 'http' }, id, {
        'svc-idempotency': `${periods.idempotencyMs / hourMs}h`,
      }),
  },
  {
    path: '/health/ready',
    respond: async (id) => {
      const now = phase()
      if (now !== 'serving') return answer(503, { ok: false, reason: now }, id)
      if (await storage.canWrite()) return answer(200, { ok: true }, id)
      return answer(503, { ok: false, reason: 'storage_unavailable' }, id)
    },
  },
]

import { hourMs } from '../../core/iso-time.ts'
import type { Service } from '../call/service.ts'
import { answer } from './envelope.ts'
import type { MountedRoute } from './routes.ts'

export type Phase = 'starting' | 'serving' | 'stopping'

/** Probes for load balancers and monitoring: they need no key, reveal nothing about the data, and cost almost nothing. */
export const createProbes = (
  { storage, periods }: Pick<Service, 'storage' | 'periods'>,
  phase: () => Phase,
): MountedRoute[] => [
  {
    method: 'GET',
    path: '/health',
    isProbe: true,
    respond: async (_, trace) =>
      answer(200, { ok: (await storage.problem()) === undefined, transport: 'http' }, trace, {
        'svc-idempotency': `${periods.idempotencyMs / hourMs}h`,
      }),
  },
  {
    method: 'GET',
    path: '/health/ready',
    isProbe: true,
    respond: async (_, trace) => {
      const now = phase()
      if (now !== 'serving') return answer(503, { ok: false, reason: now }, trace)
      const reason = await storage.problem()
      return reason === undefined
        ? answer(200, { ok: true }, trace)
        : answer(503, { ok: false, reason }, trace)
    },
  },
]

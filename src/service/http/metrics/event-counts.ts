import { deliveryChannels } from '../../../contract/records.ts'
import type { Channel } from '../../call/message.ts'
import type { Decided } from '../../call/signals/signals.ts'
import type { AttemptResult } from '../../delivery/rows.ts'
import { counter, type Family, histogram, type Labels, type Sample } from './exposition.ts'

/** Counts values by upper bounds, which must ascend. */
export const createHistogram = (bounds: readonly number[]) => {
  const counts = Array.from({ length: bounds.length + 1 }, () => 0)
  let sum = 0
  return {
    observe: (value: number): void => {
      let bucket = 0
      while (bucket < bounds.length && value > bounds[bucket]!) bucket += 1
      counts[bucket]! += 1
      sum += value
    },
    samples: (labels: Labels = {}): Sample[] => {
      let below = 0
      const buckets = counts.map((count, i): Sample => {
        below += count
        const le = i < bounds.length ? String(bounds[i]) : '+Inf'
        return { suffix: '_bucket', labels: { ...labels, le }, value: below }
      })
      return [...buckets, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: below }]
    },
  }
}

export type Histogram = ReturnType<typeof createHistogram>

// What this process counts as it happens. Labels are routes, states and channels, whose number is limited, and never an id, a
// name or an address.

const requestBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60]
/** People answer in seconds or minutes. */
const decisionBounds = [2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 14_400, 86_400]

const attemptResults = ['sent', 'retry', 'failed', 'dead'] as const

const methods = new Set(['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'])

/** Records one response of a route. */
export type ObserveResponse = (method: string, status: number, ms: number) => void

type Route = { path: string; method: string; statuses: Map<number, number>; durations: Histogram }

export const createEventCounts = () => {
  const routes: Route[] = []
  const decisions = new Map<Decided['status'], Histogram>()
  // Each series begins at 0, because a rate does not see a series that begins at 1: the first lost message.
  const results = new Map(
    deliveryChannels.flatMap((channel) =>
      attemptResults.map(
        (result) => [`${channel} ${result}`, { channel, result, count: 0 }] satisfies [string, object],
      ),
    ),
  )

  /** The series of each method are found once, because a response must cost next to nothing. */
  const route = (path: string): ObserveResponse => {
    const byMethod = new Map<string, Route>()
    const add = (method: string): Route => {
      const added = { path, method, statuses: new Map(), durations: createHistogram(requestBounds) }
      byMethod.set(method, added)
      routes.push(added)
      return added
    }
    return (typed, status, ms) => {
      const method = methods.has(typed) ? typed : 'other'
      const { statuses, durations } = byMethod.get(method) ?? add(method)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      durations.observe(ms / 1000)
    }
  }

  const families = (): Family[] => [
    counter(
      'svc_http_requests_total',
      'Requests that were answered, by route and status.',
      routes.flatMap(({ path, method, statuses }) =>
        [...statuses].map(([status, value]) => ({
          labels: { method, route: path, status: String(status) },
          value,
        })),
      ),
    ),
    histogram(
      'svc_http_request_duration_seconds',
      'Time to answer a request, including the time that it asked to wait.',
      routes.flatMap(({ path, method, durations }) => durations.samples({ method, route: path })),
    ),
    histogram(
      'svc_approval_decision_seconds',
      'Time from a request for approval to the decision of the person.',
      [...decisions].flatMap(([status, durations]) => durations.samples({ status })),
    ),
    counter(
      'svc_delivery_attempts_total',
      'Attempts to send a message, by their result.',
      [...results.values()].map(({ channel, result, count }) => ({
        labels: { channel, result },
        value: count,
      })),
    ),
  ]

  return {
    route,
    decided: ({ status, seconds }: Decided): void => {
      const durations = decisions.get(status) ?? createHistogram(decisionBounds)
      decisions.set(status, durations)
      durations.observe(seconds)
    },
    attempted: (channel: Channel, state: AttemptResult['state']): void => {
      results.get(`${channel} ${state === 'queued' ? 'retry' : state}`)!.count += 1
    },
    families,
  }
}

export type EventCounts = ReturnType<typeof createEventCounts>

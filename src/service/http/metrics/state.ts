import { readdirSync } from 'node:fs'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { deliveryChannels } from '../../../contract/records.ts'
import { countRows } from '../../call/pagination.ts'
import type { Service } from '../../call/service.ts'
import { conditionFamilies } from './condition.ts'
import { counter, type Family, gauge } from './exposition.ts'

// What is read when somebody asks. The counts of the store are of all organizations and, on a shared store, of all nodes.

type Parts = Pick<Service, 'storage' | 'signals' | 'node'> & { dataDir?: string | undefined }

/** The number of the version, and the commit, which is empty if it is not known. */
export type Build = { number: string; commit: string }

/** Prometheus waits ten seconds: a store that hangs must not hide what the process itself can say. */
const answersWithinMs = 3_000

const inTime = <T>(work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The store did not answer in time')), answersWithinMs)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

const readCounts = ({ storage }: Parts) =>
  storage.read(async (db) => {
    const now = storage.now()
    const pending = await countRows(
      db.selectFrom('approvals').where('status', '=', 'pending').where('expires_at', '>', now),
    )
    const waiting = await db
      .selectFrom('outbox')
      .where('state', 'in', ['queued', 'sending'])
      .select(({ fn }) => ['channel', fn.countAll<number>().as('count'), fn.min('created_at').as('oldest')])
      .groupBy('channel')
      .execute()
    return { now, pending, waiting }
  })

const storeFamilies = async (parts: Parts): Promise<Family[]> => {
  const counts = await readCounts(parts).catch(() => undefined)
  const up = gauge('svc_store_up', 'Whether the store can be read.', counts ? 1 : 0)
  // A count that could not be read is absent, not 0.
  if (!counts) return [up]
  const { now, pending, waiting } = counts
  const of = (channel: string) => waiting.find((row) => row.channel === channel)
  const age = (oldest: string | null | undefined): number =>
    oldest ? Math.max(0, (Date.parse(now) - Date.parse(oldest)) / 1000) : 0
  return [
    up,
    gauge('svc_approvals_pending', 'Approval requests that wait for a person.', pending),
    gauge(
      'svc_outbox_messages',
      'Messages that are not sent yet.',
      deliveryChannels.map((channel) => ({
        labels: { channel },
        value: Number(of(channel)?.count ?? 0),
      })),
    ),
    gauge(
      'svc_outbox_oldest_seconds',
      'Age of the oldest message that is not sent yet; 0 without one.',
      deliveryChannels.map((channel) => ({ labels: { channel }, value: age(of(channel)?.oldest) })),
    ),
  ]
}

const openFiles = (): number | undefined => {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return undefined
  }
}

const processFamilies = (): Family[] => {
  const { user, system } = process.cpuUsage()
  const files = openFiles()
  return [
    counter('process_cpu_seconds_total', 'Time that this process used the processor.', (user + system) / 1e6),
    gauge('process_resident_memory_bytes', 'Memory of this process.', process.memoryUsage.rss()),
    gauge(
      'process_start_time_seconds',
      'When this process started, in seconds since 1970.',
      performance.timeOrigin / 1000,
    ),
    ...(files === undefined
      ? []
      : [gauge('process_open_fds', 'Files and connections that are open.', files)]),
  ]
}

/** Node measures how long each interval took, so this is subtracted. */
const resolutionMs = 20

/** Reads the state of this process and of the store. `stop` ends the measurement of the event loop. */
export const createStateReader = (parts: Parts, build: Build) => {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()

  const loopFamilies = (): Family[] => {
    const { idle, active } = performance.eventLoopUtilization()
    // Not `quantile`, which Prometheus reserves for summaries.
    const percentiles = [50, 99, 100].map((percentile) => ({
      labels: { percentile: String(percentile) },
      value: delay.count === 0 ? 0 : Math.max(0, delay.percentile(percentile) / 1e9 - resolutionMs / 1000),
    }))
    delay.reset()
    return [
      gauge(
        'svc_event_loop_delay_seconds',
        'How late the event loop was since the last scrape.',
        percentiles,
      ),
      counter('svc_event_loop_active_seconds_total', 'Time that the event loop was busy.', active / 1000),
      counter('svc_event_loop_idle_seconds_total', 'Time that the event loop waited.', idle / 1000),
    ]
  }

  const nodeFamilies = (): Family[] => {
    const { requests } = parts.node()
    const { writes, connections, connections_limit } = parts.storage.load()
    return [
      gauge('svc_build_info', 'The version of svc and its commit; always 1.', [
        { labels: { version: build.number, commit: build.commit }, value: 1 },
      ]),
      gauge('svc_http_requests_in_progress', 'Requests in progress.', requests),
      gauge('svc_approval_waits', 'Callers and pages that wait for a change.', parts.signals.waiting),
      counter('svc_store_writes_total', 'Writes that this process committed.', writes),
      gauge(
        'svc_store_connections',
        'Connections to the database in use; 0 for an embedded store.',
        connections,
      ),
      gauge(
        'svc_store_connections_limit',
        'The most connections that this process opens; 0 for an embedded store.',
        connections_limit,
      ),
    ]
  }

  return {
    families: async (): Promise<Family[]> => {
      const storage: Parts['storage'] = {
        ...parts.storage,
        read: (work) => inTime(parts.storage.read(work)),
      }
      const asked = { ...parts, storage }
      const ofStore = await Promise.all([storeFamilies(asked), conditionFamilies(asked)])
      return [...nodeFamilies(), ...ofStore.flat(), ...loopFamilies(), ...processFamilies()]
    },
    stop: (): void => void delay.disable(),
  }
}

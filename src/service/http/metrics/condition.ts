import { statfsSync } from 'node:fs'
import type { Service } from '../../call/service.ts'
import { readLastBackup } from '../../storage/last-backup.ts'
import { replicationRisks } from '../../storage/postgres/facts.ts'
import { lostAfterS } from '../../storage/schema/service.ts'
import { storeProblems } from '../../storage/storage.ts'
import { type Family, gauge, type Sample } from './exposition.ts'

// What somebody must act on before it ends the service, or loses data.

type Parts = Pick<Service, 'storage' | 'node'> & { dataDir?: string | undefined }

/** 1 for the reason that was found, and 0 for the others. */
const eachOf = (reasons: readonly string[], found: string | undefined): Sample[] =>
  reasons.map((reason) => ({ labels: { reason }, value: Number(reason === found) }))

const problemFamily = async ({ storage }: Parts): Promise<Family> => {
  const found = await storage.problem()
  return gauge('svc_store_problem', 'Whether nothing can be written, and why.', eachOf(storeProblems, found))
}

const nodesFamily = async ({ storage, node }: Parts): Promise<Family> => {
  const now = Date.parse(storage.now())
  const nodes = storage.shared
    ? await storage.read((db) => db.selectFrom('nodes').select(['state', 'seen_at']).execute())
    : [node()]
  const states = nodes.map(({ state, seen_at }) =>
    now - Date.parse(seen_at) > lostAfterS * 1000 ? 'lost' : state,
  )
  return gauge(
    'svc_nodes',
    'Nodes of the service, by what they last reported; lost without a report.',
    ['serving', 'stopping', 'lost'].map((state) => ({
      labels: { state },
      value: states.filter((one) => one === state).length,
    })),
  )
}

const backupFamily = async ({ storage }: Parts): Promise<Family[]> => {
  const last = await storage.read((db) => readLastBackup(db, storage.replication()?.archived_at))
  if (!last) return []
  const value = Math.max(0, Math.floor((Date.parse(storage.now()) - last.at) / 1000))
  return [
    gauge('svc_backup_age_seconds', 'Time since the last backup, or since the first start without one.', [
      { labels: { last: last.never ? 'never' : 'written' }, value },
    ]),
  ]
}

const replicationFamilies = ({ storage }: Parts): Family[] => {
  const { risk, lag_bytes = 0 } = storage.replication() ?? {}
  return [
    gauge(
      'svc_database_risk',
      'Whether the database can lose data, or waits for a standby.',
      eachOf(replicationRisks, risk),
    ),
    gauge('svc_database_lag_bytes', 'How far the slowest standby is behind.', lag_bytes ?? 0),
  ]
}

/** The disk of the data folder; of a database, its own monitoring knows more. */
const diskFamilies = ({ dataDir }: Parts): Family[] => {
  if (dataDir === undefined) return []
  const { bavail, blocks, bsize } = statfsSync(dataDir)
  return [
    gauge('svc_disk_free_bytes', 'Room on the disk of the data folder.', bavail * bsize),
    gauge('svc_disk_size_bytes', 'Size of the disk of the data folder.', blocks * bsize),
  ]
}

/** Prometheus knows when it read them, so it can tell a clock that is off. */
const clockFamily = ({ storage }: Parts): Family =>
  gauge('svc_clock_seconds', 'What a clock shows, in seconds since 1970.', [
    { labels: { clock: 'machine' }, value: Date.now() / 1000 },
    { labels: { clock: 'store' }, value: Date.parse(storage.now()) / 1000 },
  ])

/** What cannot be read is absent. */
const orNone = async (read: () => Promise<Family[]>): Promise<Family[]> => read().catch(() => [])

export const conditionFamilies = async (parts: Parts): Promise<Family[]> => {
  const read = await Promise.all([
    orNone(async () => [await problemFamily(parts)]),
    orNone(async () => [await nodesFamily(parts)]),
    orNone(() => backupFamily(parts)),
    orNone(async () => diskFamilies(parts)),
  ])
  return [...read.flat(), ...replicationFamilies(parts), clockFamily(parts)]
}

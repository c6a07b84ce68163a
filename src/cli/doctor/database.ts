import { resolve } from 'node:path'
import { dayMs } from '../../core/iso-time.ts'
import { counted } from '../../core/sentence.ts'
import type { Io } from '../terminal/io.ts'
import { about, failed, type Finding } from './finding.ts'

const check = 'database'
const { ok, note, warn, fail } = about(check)

type Inspection = import('../../service/storage/postgres/whole.ts').Inspection
type Facts = Inspection['facts']

const checkSchema = (version: number, newest: number): Finding => {
  if (version === 0) return note('empty', 'svc serve creates the tables, or svc service restore')
  return version < newest
    ? warn(
        `schema ${version}, and this svc has ${newest}`,
        'svc service migrate, or start a node of this version',
      )
    : ok(`schema ${version}, as this svc has`)
}

const checkWrite = ({ unwritable, version }: Inspection, newest: number): Finding[] => {
  if (version < newest) return []
  if (!unwritable) return [ok('this user can write')]
  return unwritable.code === 'database_rights'
    ? [fail('this user cannot write', 'Use the URL of the service, whose user owns the tables')]
    : [failed(check, unwritable)]
}

const checkRights = ({ may_create, role }: Facts): Finding =>
  may_create
    ? ok('this user can upgrade the schema')
    : warn(
        'this user cannot create tables, so it cannot upgrade the schema',
        `GRANT CREATE ON SCHEMA public TO "${role}"`,
      )

const mib = 1024 * 1024

const checkReplication = (facts: Facts, loss: { reason: string; solution: string } | undefined): Finding => {
  const { standby, standbys, standby_names, synchronous_standbys, lag_bytes, role } = facts
  if (standby) return fail('this is a standby, which cannot be written', 'Use the address of the primary')
  if (loss) return fail(loss.reason, loss.solution)
  if (standby_names !== '' && synchronous_standbys === 0)
    return fail(
      'no synchronous standby is connected, so every write waits for one',
      'Start a standby of synchronous_standby_names',
    )
  if (standbys === 0) return note('no standby is connected: a lost disk loses what the last backup lacks')
  if (synchronous_standbys === null)
    return note(`${counted(standbys, 'standby')}; this user cannot see more`, `GRANT pg_monitor TO "${role}"`)
  const lag = `the slowest is ${Math.round((lag_bytes ?? 0) / mib)} MiB behind`
  return ok(`${synchronous_standbys} of ${standbys} standbys synchronous; ${lag}`)
}

const clockWarnsMs = 10_000

const checkClock = ({ time }: Facts, now: number): Finding => {
  const seconds = Math.round(Math.abs(now - time) / 1000)
  return Math.abs(now - time) > clockWarnsMs
    ? warn(
        `this machine is ${seconds} s ${now > time ? 'ahead of' : 'behind'} the database, whose clock the nodes use`,
        'Set the clocks: timedatectl set-ntp true',
      )
    : ok(`its clock is within ${seconds} s of this machine`)
}

const checkConnections = (
  { max_connections, used_connections }: Facts,
  { count: nodes, connections }: Inspection['nodes'],
): Finding => {
  const message = `${used_connections} of ${max_connections} connections of the server in use; ${counted(nodes, 'node')} may open ${connections}`
  // PostgreSQL reserves some, and a rolling restart adds a node.
  return connections > max_connections * 0.8
    ? warn(message, 'Raise max_connections, or lower svc serve --database-connections')
    : ok(message)
}

const checkLost = ({ lost }: Inspection): Finding[] =>
  lost.length === 0
    ? []
    : [
        warn(
          `${counted(lost.length, 'node')} stopped reporting within 10 minutes: ${lost.join(', ')}`,
          'systemctl status svc, on that machine',
        ),
      ]

const backupWarnsMs = 2 * dayMs

const checkBackup = ({ backup, facts: { time } }: Inspection): Finding[] => {
  if (!backup) return []
  // A clock that was ahead is no backup of tomorrow.
  const age = counted(Math.max(0, Math.floor((time - backup.at) / dayMs)), 'day')
  const message = backup.never
    ? `no backup was ever written, and the store is ${age} old`
    : `the last backup is ${age} old`
  return time - backup.at > backupWarnsMs
    ? [warn(message, 'svc service backup FILE --database-url-file FILE, or archive the WAL')]
    : [ok(message)]
}

const checkVersions = ({ versions }: Inspection['nodes']): Finding[] =>
  versions.length > 1
    ? [note(`nodes run different versions: ${versions.join(', ')}`, 'svc service nodes lists them')]
    : []

/** The URL in the file of --database-url-file. */
export const readUrl = async (io: Io, file: string): Promise<string> => {
  const { readUrlFile } = await import('../../service/lifecycle/place.ts')
  return readUrlFile(resolve(io.cwd, file))
}

/** Whether svc can use the database of the service, and how much is left of its limits. */
export const checkDatabase = async (io: Io, url: string): Promise<Finding[]> => {
  const { inspectDatabase } = await import('../../service/storage/postgres/whole.ts')
  const { dataLoss } = await import('../../service/storage/postgres/facts.ts')
  const { newestVersion } = await import('../../service/storage/migrations.ts')
  const { readDatabaseUrl } = await import('../../service/storage/postgres/database-url.ts')
  let inspection: Inspection
  try {
    inspection = await inspectDatabase(url)
  } catch (error) {
    return [failed(check, error)]
  }
  const { facts, version, nodes } = inspection
  const encrypted = facts.tls ? 'over verified TLS' : 'without TLS, on this machine'
  return [
    ok(`${readDatabaseUrl(url).name}: PostgreSQL ${facts.version_text}, ${encrypted}`),
    checkSchema(version, newestVersion()),
    ...checkWrite(inspection, newestVersion()),
    checkRights(facts),
    checkReplication(facts, dataLoss(facts)),
    checkClock(facts, io.now().getTime()),
    checkConnections(facts, nodes),
    ...checkVersions(nodes),
    ...checkLost(inspection),
    ...checkBackup(inspection),
  ]
}

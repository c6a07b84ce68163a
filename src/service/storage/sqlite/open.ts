import { stopAtDamage } from '../damage.ts'
import type { Storage } from '../storage.ts'
import { rowSwallowed } from '../store-changed.ts'
import { type AuditHead, headColumns, startTransaction, type Transaction } from '../transaction.ts'
import { createWriteProbe } from '../write-probe.ts'
import { type Connection, openConnection, queriesOf } from './connection.ts'
import { asUnavailable } from './errors.ts'
import { createGroupCommit } from './group-commit.ts'
import { migrate } from './migrate.ts'
import type { WholeCheck } from './whole-check.ts'

const headText = `select ${headColumns.join(', ')} from audit where org_id = ? order by seq desc limit 1`

const appendedText = 'select seq from audit where org_id = ? and seq = ? and hash = ?'

type Options = {
  path: string
  now?: (() => Date) | undefined
  /** Checks the store while it is in use. */
  check?: (() => WholeCheck) | undefined
  /** Is told of damage. */
  report?: ((message: string, level: 'warn') => void) | undefined
}

// Under load many requests share a millisecond, and formatting is the expensive part of a clock.
const clock = (now: () => Date): (() => string) => {
  let at = Number.NaN
  let text = ''
  return () => {
    const date = now()
    if (date.getTime() !== at) {
      at = date.getTime()
      text = date.toISOString()
    }
    return text
  }
}

/** Writes one page and changes nothing. */
const onePage = ['PRAGMA user_version = 0']
/** Writes more pages than a request does. */
const manyPages = [
  `INSERT INTO settings (name, value) VALUES ('write_probe', hex(randomblob(32768)))
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  `DELETE FROM settings WHERE name = 'write_probe'`,
]

/** With one writer, nothing has to be locked, and the end of an audit is what the store has. `begin` and `end` are those of a write. */
const createOnlyTransaction = (writer: Connection): Transaction & { begin(): void; end(): void } => {
  const heads = new Map<number, AuditHead | undefined>()
  const appended = new Map<number, AuditHead>()
  return {
    begin: () => {
      heads.clear()
      appended.clear()
    },
    // A trigger can remove a row again until then.
    end: () => {
      for (const [org, { seq, hash }] of appended)
        if (!writer.prepare(appendedText).first([org, seq, hash])) throw rowSwallowed()
    },
    shared: false,
    head: (org) => {
      if (!heads.has(org)) heads.set(org, writer.prepare(headText).first([org]) as AuditHead | undefined)
      return heads.get(org)
    },
    append: (org, head, added) => {
      heads.set(org, head)
      appended.set(org, head)
      return added
    },
    lock: async () => false,
    lockNumbers: async () => undefined,
  }
}

/** Opens the store in `path`; creates or upgrades it as needed. Throws an SvcError if a newer svc wrote it. */
export const openSqlite = async ({
  path,
  now = () => new Date(),
  check,
  report,
}: Options): Promise<Storage> => {
  const writer = openConnection(path)
  const writing = queriesOf(writer)
  try {
    await migrate(writer, writing)
  } catch (error) {
    writer.close()
    throw error
  }
  // With WAL, a reader sees committed data and never waits for the writer.
  const reader = openConnection(path)
  reader.exec('PRAGMA query_only = ON')
  const reading = queriesOf(reader)
  const commits = createGroupCommit(writer)
  const transaction = createOnlyTransaction(writer)
  startTransaction(writing, transaction)
  const canWrite = createWriteProbe(async (thorough) => {
    for (const sql of thorough ? manyPages : onePage) await commits.run(async () => writer.exec(sql))
  }, commits.failures)
  const checking = check?.()
  const engine: Omit<Storage, 'problem'> = {
    read: async (work) => {
      try {
        return await work(reading)
      } catch (error) {
        throw asUnavailable(error)
      }
    },
    // With one writer, no organization must be locked.
    write: (work, { org, opening }) =>
      commits.run(async () => {
        transaction.begin()
        const result = await work(writing, (await opening?.(writing))!)
        transaction.end()
        return result
      }, org),
    // The data folder is locked, so no other process commits.
    revision: commits.revision,
    recentRevision: commits.revision,
    load: () => ({ writes: commits.committed(), connections: 0, connections_limit: 0 }),
    replication: () => undefined,
    now: clock(now),
    shared: false,
    publish: () => undefined,
    subscribe: () => undefined,
    close: async () => {
      checking?.stop()
      await commits.idle()
      reader.close()
      // Afterwards the file alone is the whole store, so that it can be copied.
      writer.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([])
      writer.close()
    },
  }
  return stopAtDamage(engine, canWrite, { report, damage: checking?.damage })
}

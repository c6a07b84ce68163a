import pg from 'pg'
import { openPostgres } from '../../../src/service/storage/postgres/open.ts'
import type { Storage } from '../../../src/service/storage/storage.ts'
import { copyDatabase, databaseUrl } from './postgres-databases.ts'

// Databases that tests use one after another: emptying one takes a few milliseconds, and its connections stay open. Creating
// one, connecting to it and preparing the statements again takes longer than most tests.

/** Ids and counts are numbers, as in SQLite. */
const numbers: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)) as never,
}

/** A store on loan: after `close`, it serves nobody, and what its borrower started is done. */
const lend = (owned: Storage) => {
  const running = new Set<Promise<unknown>>()
  let closed = false
  const run = async <T>(start: () => Promise<T>): Promise<T> => {
    if (closed) throw new Error('the store is closed')
    const promise = start()
    running.add(promise)
    try {
      return await promise
    } finally {
      running.delete(promise)
    }
  }
  const storage: Storage = {
    ...owned,
    read: (work) => run(() => owned.read(work)),
    write: (work, options) => run(() => owned.write(work, options)),
    close: async () => {
      closed = true
      while (running.size > 0) await Promise.allSettled(running)
    },
  }
  return storage
}

const createDatabase = async (hasClock: boolean) => {
  const url = databaseUrl(await copyDatabase('svc_template'))
  let now: (() => Date) | undefined
  let receivers: Parameters<Storage['subscribe']>[0][] = []
  const owned = await openPostgres({ url, now: hasClock ? () => now?.() ?? new Date() : undefined })
  owned.subscribe((message) => {
    for (const receive of receivers) receive(message)
  })
  const program = new pg.Client({ connectionString: url, types: numbers })
  await program.connect()
  program.on('error', () => undefined)

  const { rows: tables } = await program.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' order by 1",
  )
  const { rows: sequences } = await program.query<{ name: string }>(
    "select sequencename as name from pg_sequences where schemaname = 'public' order by 1",
  )

  /** SQL that inserts the rows of this database and sets its sequences. */
  const dump = async (): Promise<string> => {
    const statements: string[] = []
    for (const { name } of tables) {
      const {
        rows: [row],
      } = await program.query<{ text: string | null }>(`select json_agg(t)::text as text from "${name}" t`)
      if (row?.text)
        statements.push(
          `insert into "${name}" select * from json_populate_recordset(null::"${name}", ${pg.escapeLiteral(row.text)})`,
        )
    }
    for (const { name } of sequences) {
      const {
        rows: [row],
      } = await program.query<{ value: string; called: boolean }>(
        `select last_value as value, is_called as called from "${name}"`,
      )
      statements.push(`select setval('"${name}"', ${row!.value}, ${row!.called})`)
    }
    return statements.join(';')
  }

  const empty = [
    'set session_replication_role = replica',
    ...tables.map(({ name }) => `delete from "${name}"`),
  ]
  const start = await dump()
  const replace = async (content = start): Promise<void> => {
    await program.query(`${[...empty, content].join(';')}; set session_replication_role = origin`)
  }

  const runSql = async (sql: string, values: unknown[] = []): Promise<object[]> => {
    let n = 0
    const { rows } = await program.query(
      sql.replaceAll('?', () => `$${(n += 1)}`),
      values,
    )
    return rows
  }

  /** Without the table scans and the sorts that are cheaper for a few rows. */
  const explain = async (query: string): Promise<string> => {
    await program.query(
      'begin; set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_sort = off',
    )
    const { rows } = await program.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${query}`)
    await program.query('rollback')
    return rows.map((row) => row['QUERY PLAN']).join('; ')
  }

  return {
    url,
    runSql,
    explain,
    tables: tables.map(({ name }) => name),
    dump,
    lend: async (clock?: () => Date, content?: string): Promise<Storage> => {
      await replace(content)
      now = clock
      receivers = []
      return { ...lend(owned), subscribe: (receive) => void receivers.push(receive) }
    },
  }
}

type Database = Awaited<ReturnType<typeof createDatabase>>

// By whether the test has a clock of its own.
const idle: Record<'own' | 'real', Database[]> = { own: [], real: [] }

/** A store with the content that `dump` returned, or an empty one. */
export const borrowDatabase = async (now?: () => Date, content?: string) => {
  const free = idle[now ? 'own' : 'real']
  const database = free.pop() ?? (await createDatabase(now !== undefined))
  const { url, runSql, tables, explain, dump } = database
  return {
    url,
    runSql,
    tables,
    explain,
    dump,
    storage: await database.lend(now, content),
    giveBack: async (): Promise<void> => void free.push(database),
  }
}

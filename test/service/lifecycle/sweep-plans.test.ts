import { expect, test } from 'vitest'
import { sweep } from '../../../src/service/approvals/expiry.ts'
import { tellGrantUses } from '../../../src/service/approvals/grant-notices.ts'
import { remindDue } from '../../../src/service/approvals/reminders.ts'
import { createShrunkSweep } from '../../../src/service/approvals/shrunk-pools.ts'
import type { Service } from '../../../src/service/call/service.ts'
import { findAlteredRows } from '../../../src/service/custody/altered-rows.ts'
import { endCooling } from '../../../src/service/devices/cooling.ts'
import { deleteExpired, sweepRetention } from '../../../src/service/lifecycle/retention.ts'
import type { Db } from '../../../src/service/storage/schema.ts'
import type { Storage } from '../../../src/service/storage/storage.ts'
import { acme, ada, installHooks, service } from '../acme-with-ada.ts'
import { ask } from '../approver.ts'

installHooks()

/** The tables that grow with every request. */
const large = 'approvals|audit|ballots|people|memberships'

const quoted = (value: unknown): string =>
  typeof value === 'number' ? String(value) : `'${String(value).replaceAll("'", "''")}'`

/** The statements that `work` runs on the store, with their values. */
const statementsOf = async (work: (service: Service) => Promise<unknown>): Promise<string[]> => {
  const statements: string[] = []
  const record = async <T>(db: Db, run: () => Promise<T>): Promise<T> => {
    const executor = db.getExecutor()
    const { executeQuery } = executor
    executor.executeQuery = (query, ...rest) => {
      const values = [...query.parameters]
      statements.push(query.sql.replaceAll(/\$\d+|\?/g, () => quoted(values.shift())))
      return executeQuery.call(executor, query, ...rest) as never
    }
    try {
      return await run()
    } finally {
      executor.executeQuery = executeQuery
    }
  }
  const storage: Storage = {
    ...service.storage,
    read: (run) => service.storage.read((db) => record(db, () => run(db))),
    write: (run, options) =>
      service.storage.write((db, opened) => record(db, () => run(db, opened)), options),
  }
  await work({ ...service.service, storage })
  return statements
}

test.each<[string, (of: Service) => Promise<unknown>]>([
  ['ends overdue requests', sweep],
  ['ends requests that too few can answer', createShrunkSweep()],
  ['reminds approvers', remindDue],
  ['reports the uses of grants', tellGrantUses],
  ['ends the waiting time of devices', endCooling],
  [
    'deletes expired rows',
    (of) => of.storage.write((db) => deleteExpired({ ...of, db }, of.storage.now()), { org: null }),
  ],
  ['clears old approvals', sweepRetention],
  ['looks for altered rows', findAlteredRows],
])('the job that %s never reads a whole table of a large store', async (_, job) => {
  await ask(service, ada, { action: 'Deploy' }, acme.key)
  const statements = await statementsOf(job)
  expect(statements).not.toEqual([])
  const whole = new RegExp(String.raw`(?:SCAN|Seq Scan on) (?:${large})\b`)
  const read: string[] = []
  for (const text of statements) {
    const plan = await service.explain(text)
    if (whole.test(plan)) read.push(`${text}: ${plan}`)
  }
  expect(read).toEqual([])
})

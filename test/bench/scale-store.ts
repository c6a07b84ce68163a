import { join } from 'node:path'
import Database from 'libsql'
import { fillStore } from '../torture/fill-store.ts'
import { enrollApprover, request } from '../torture/enrolled-approver.ts'
import { type Env, serve } from './measured-command.ts'
import { stop } from './service-child.ts'

type Size = { rows: number; users: number; organizations: number }

/** Copies an ended approval and its ballot. */
const fillApprovals = (file: string, rows: number): void => {
  const db = new Database(file)
  db.exec('PRAGMA synchronous = OFF')
  const columnsOf = (table: string): string[] =>
    (db.prepare(`PRAGMA table_info(${table})`).all([]) as { name: string }[])
      .map(({ name }) => name)
      .filter((name) => name !== 'id')
  for (const table of ['approvals', 'ballots']) {
    const columns = columnsOf(table)
    // A ballot without a nonce is over, and its MAC is not checked.
    const copied: Record<string, string> = { request_id: "'apr_' || printf('%024d', n)", nonce: "''" }
    const values = columns.map((name) => copied[name] ?? name)
    db.exec(`WITH RECURSIVE count (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < ${rows})
      INSERT INTO ${table} (${columns.join()}) SELECT ${values.join()} FROM count, (SELECT * FROM ${table} LIMIT 1)`)
  }
  db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([])
  db.close()
}

/** Fills a new data folder; returns the organization that has the rows. */
export const createScaleStore = async (
  dataDir: string,
  { rows, users, organizations }: Size,
  env: Env,
): Promise<number> => {
  const key = env['SVC_BOOTSTRAP_API_KEY']!
  const { child, baseUrl } = await serve(['--dev', '--data-dir', dataDir], env)
  const { id: org_id } = await request(baseUrl, 'createOrganization', key, { name: 'Acme' })
  for (let n = 1; n < organizations; n++)
    await request(baseUrl, 'createOrganization', key, { name: `Org ${n}` })
  const { mobile } = await enrollApprover(baseUrl, key, org_id)
  const { request_id } = await request(baseUrl, 'createApproval', key, {
    action: 'x',
    approvers: [mobile],
    org_id,
  })
  await request(baseUrl, 'withdrawApproval', key, { request_id })
  await stop(child)
  fillStore(dataDir, { org: org_id, rows, users })
  fillApprovals(join(dataDir, 'svc.db'), rows)
  return org_id
}

import { auditHash, type ChainRow } from '../../src/receipt/chain.ts'
import type { TestService } from './harness.ts'

/**
 * Appends a row to an audit, as another program can: with the hash that it must have, and the MAC of the row before. Returns its
 * place.
 */
export const appendForged = async (
  { runSql }: Pick<TestService, 'runSql'>,
  org: number,
  rules: number,
): Promise<number> => {
  const [last] = await runSql('SELECT * FROM audit WHERE org_id = ? ORDER BY seq DESC LIMIT 1', [org])
  const { row_mac, hash: prev_hash, changes: _, ...rest } = last as ChainRow & { row_mac: string }
  const row = { ...rest, seq: rest.seq + 1, subject: 'user:1', prev_hash, rules }
  const all = { ...row, changes: '[]', hash: auditHash({ ...row, changes: [] }), row_mac }
  const names = Object.keys(all)
  await runSql(
    `INSERT INTO audit (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    Object.values(all),
  )
  return row.seq
}

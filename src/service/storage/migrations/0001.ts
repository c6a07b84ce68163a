import type { Db } from '../schema.ts'
import { approvals } from './0001/approvals.ts'
import { mobile } from './0001/mobile.ts'
import { organizations } from './0001/organizations.ts'
import { service } from './0001/service.ts'
import { runStatements } from './run-statements.ts'

export const up = async (db: Db): Promise<void> => {
  for (const text of [organizations, approvals, mobile, service]) await runStatements(db, text)
}

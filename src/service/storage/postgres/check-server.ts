import type { ClientBase } from 'pg'
import { failure, SvcError } from '../../../core/errors.ts'
import { databaseAltered } from '../store-changed.ts'
import { dataLoss, type Facts, readFacts } from './facts.ts'

const oldest = 13

/** Throws an SvcError if svc cannot keep its promises on this server: `durable`, that no acknowledged write is lost. */
export const checkServer = async (client: ClientBase, { durable }: { durable: boolean }): Promise<Facts> => {
  const facts = await readFacts(client)
  if (facts.version < oldest * 10_000)
    throw failure(
      'database_too_old',
      `svc requires PostgreSQL ${oldest} or newer, and this is ${facts.version_text}`,
      `Upgrade PostgreSQL to version ${oldest} or newer`,
    )
  if (facts.standby)
    throw failure(
      'database_read_only',
      'The database is a standby, which only the primary can write',
      'Use the address of the primary',
    )
  if (facts.encoding !== 'UTF8')
    throw failure(
      'database_encoding',
      `The database has the encoding ${facts.encoding}, and svc requires UTF8`,
      'Create it again: createdb --encoding UTF8 --template template0 svc',
    )
  if (facts.schema === null)
    throw failure(
      'database_rights',
      'No schema of the search path exists, or this user may not use it',
      `GRANT CREATE, USAGE ON SCHEMA public TO "${facts.role}"`,
    )
  if (facts.between !== null)
    throw databaseAltered(
      facts.between,
      'DROP TRIGGER, DROP RULE, DROP POLICY, DROP TABLE or ALTER COLUMN TYPE',
    )
  const loss = durable ? dataLoss(facts) : undefined
  if (loss)
    throw new SvcError('failed', 'database_loses_data', `The database can lose data: ${loss.reason}`, {
      hint: `${loss.solution}. To accept the loss: --allow-data-loss`,
    })
  return facts
}

import { rowsIn } from '../../client/answered.ts'
import { audit } from '../../contract/audit.ts'
import { SvcError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { fail, failed, isUnsaid, note, ok, type Finding } from './finding.ts'

const named = 3

/** Whether another program has changed devices or keys in the store; only our own service can report it. */
export const checkStore = async (context: Context): Promise<Finding> => {
  const client = await context.client()
  try {
    const answer = await client.call(audit.listAlteredRows, {}, { signal: context.io.signal })
    const rows = rowsIn(audit.listAlteredRows, answer)
    if (rows.length === 0) return ok('store', 'no other program has changed devices, keys or users')
    const some = rows.slice(0, named).map(({ kind, id }) => `${String(kind).replace('_', ' ')} ${String(id)}`)
    const more = rows.length > named ? ` and ${rows.length - named} more` : ''
    return fail(
      'store',
      `another program has changed ${some.join(', ')}${more}, which the service does not use`,
      'svc audit altered lists them; revoke them or restore a backup',
    )
  } catch (error) {
    if (isUnsaid(error)) return note('store', 'this service does not report it')
    if (error instanceof SvcError && error.code === 'scope_missing')
      return note('store', 'this key cannot read whether another program has changed the store')
    return failed('store', error)
  }
}

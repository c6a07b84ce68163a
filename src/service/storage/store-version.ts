import Libsql from 'libsql'
import { SvcError } from '../../core/errors.ts'
import { refuseNewer } from './migrations.ts'

/**
 * How many migrations the store in `file` has seen; 0 when nothing is in it yet. Changes nothing. Fails with an SvcError
 * where a newer svc or another program wrote it.
 */
export const storeVersion = (file: string): number => {
  const database = new Libsql(file)
  try {
    const [{ user_version: version }] = database.prepare('PRAGMA user_version').all([]) as [
      { user_version: number },
    ]
    const tables = (
      database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all([]) as { name: string }[]
    ).map(({ name }) => name)
    if (version === 0 ? tables.length > 0 : !tables.includes('api_keys'))
      throw new SvcError(
        'failed',
        'foreign_store',
        `${file} belongs to another program; it was not changed`,
        {
          hint: 'Name the data folder of svc, or a new folder: --data-dir NEWFOLDER',
        },
      )
    refuseNewer(version)
    return version
  } finally {
    database.close()
  }
}

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openConnection, queriesOf } from '../../../../src/service/storage/sqlite/connection.ts'
import { temporaryFolder } from '../../../temporary-folder.ts'

test.each([
  ['a word of a state is part of the statement', 'pending', ['"status" = \'pending\'', [7]]],
  ['any other text is a value', "pending' or '1", ['"status" = ?', [7, "pending' or '1"]]],
])('%s', (_, status, expected) => {
  const { path, remove } = temporaryFolder()
  const connection = openConnection(join(path, 'test.db'))
  try {
    const { sql, parameters } = queriesOf(connection)
      .selectFrom('approvals')
      .select('id')
      .where('org_id', '=', 7)
      .where('status', '=', status as 'pending')
      .compile()
    expect([/"status" = \S+/.exec(sql)![0], parameters]).toEqual(expected)
  } finally {
    connection.close()
    remove()
  }
})

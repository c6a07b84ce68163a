import { stringify } from 'csv-stringify/sync'
import { rowsIn } from '../../client/answer-data.ts'
import { user } from '../../contract/user.ts'
import { failure, usageError } from '../../core/errors.ts'
import { wholeNumber } from '../../core/phone-parts.ts'
import { safeText } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import { requireOrg, resolveOrg } from '../context/organization.ts'
import { pickingFlag } from '../terminal/output.ts'
import { writeCell } from '../terminal/render.ts'
import { columns } from './columns.ts'
import { quantity } from './progress.ts'

/** The cells of a record, with the full number, so that a spreadsheet cannot change it. */
const cellsOf = (record: Record<string, unknown>): string[] => {
  const mobile = wholeNumber(record)
  if (mobile === undefined)
    throw failure(
      'unexpected_answer',
      'The service returned a user without mobile, which could not be imported again',
      `svc ${user.listUsers.cli} -o json shows the answer`,
    )
  const fields: Record<string, unknown> = { ...record, mobile }
  return columns.map((name) => writeCell(String(fields[name] ?? '')))
}

/** `svc user export`: writes all active users, page by page. Importing the others again would admit them. */
export const runExport = async (org: string | undefined, context: Context): Promise<void> => {
  const { io, globals } = context
  if (pickingFlag(globals) !== undefined || globals.output !== undefined)
    throw usageError(
      'svc user export writes only CSV',
      await context.command!.again({ without: ['--output', '--jq'] }),
    )
  const { id: org_id } = await resolveOrg(await requireOrg(org, context), context)
  const client = await context.client()
  const output = await context.output()
  const write = (rows: string[][]): void => {
    const text = stringify(rows)
    io.stdout.write(io.stdout.isTTY ? safeText(text) : text)
  }
  let count = 0
  context.endsWithReader = true
  const query = { org_id, state: 'active' as const }
  for await (const answer of client.pages(user.listUsers, query, { signal: io.signal })) {
    const rows = rowsIn(user.listUsers, answer).map(cellsOf)
    write(count === 0 ? [columns, ...rows] : rows)
    count += rows.length
  }
  output.note(quantity(count))
}

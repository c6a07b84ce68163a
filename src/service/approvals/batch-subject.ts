import { table, type OperationId } from '../../contract/table.ts'
import { digestOf } from '../../receipt/subject.ts'
import type { RequestSubject } from './write-subject.ts'

/** SHA-256 of the digests of all rows, in order: anybody who has the rows can compute it. */
export const listDigest = (digests: readonly string[]): string => digestOf(digests)

type Row = { row: { id: OperationId }; subject: RequestSubject; digest: string }

/** A user who gets another role than that of a member, or another than before. */
const roleIn = ({ data: { operation, body, before } }: RequestSubject): string | undefined => {
  const { role } = body
  const then = operation === 'updateUser' ? before?.['role'] : 'member'
  const whom = body['user'] ?? `${String(body['first_name'])} ${String(body['last_name'])}`
  return role === undefined || role === then ? undefined : `${String(whom)}: ${String(role)}`
}

/** What people sign for many rows: how many of each operation, each deletion and change of a role, and the digest of the list. */
export const batchSubject = (
  rows: readonly Row[],
  { orgId, slug }: { orgId: number; slug: string },
): RequestSubject => {
  const deletions: string[] = []
  const roles: string[] = []
  const counts: Record<string, number> = {}
  for (const { row, subject } of rows) {
    const { cli } = table[row.id]
    counts[cli] = (counts[cli] ?? 0) + 1
    const role = roleIn(subject)
    deletions.push(...(subject.data.deletions ?? []).map((name) => `${cli}: ${name}`))
    if (role !== undefined) roles.push(role)
  }
  return {
    type: 'request',
    data: {
      organization: { id: String(orgId), slug },
      operation: 'batch',
      body: roles.length > 0 ? { roles } : {},
      // In canonical JSON, capital letters come first.
      counts: {
        ...(deletions.length > 0 && { Deletions: deletions.length }),
        ...(roles.length > 0 && { 'Role changes': roles.length }),
        ...counts,
      },
      ...(deletions.length > 0 && { deletions }),
      file: { name: `list of ${rows.length} changes`, sha256: listDigest(rows.map(({ digest }) => digest)) },
    },
  }
}

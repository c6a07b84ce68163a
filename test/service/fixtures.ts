import { deepStrictEqual } from 'node:assert'
import type { AuditRow } from '../../src/contract/audit.ts'
import type { Answer, TestService } from './harness.ts'

/** The `data` of an answer that must be a success. */
export const dataOf = ({ status, body }: Answer) => {
  if (status !== 200 || body.status !== 'success') throw new Error(`${status} ${JSON.stringify(body)}`)
  return body.data
}

/** A refusal as `[status, code, names of the fields]`. */
export const refusal = ({ status, body }: Answer): [number, string, string[]] => [
  status,
  body.data.code,
  (body.data.issues ?? []).map((issue: { field: string }) => issue.field),
]

export const ada = {
  email: 'ada@acme.example',
  country_code: '+1',
  mobile: '2025550101',
  first_name: 'Ada',
  last_name: 'Lovelace',
}

export const fence = { name: 'Headquarters', latitude: 52.52, longitude: 13.405, radius: 150, is_active: 1 }

export const slot = {
  name: 'Office hours',
  days: ['mon', 'tue', 'wed', 'thu', 'fri'],
  start: '09:00',
  end: '17:30',
  timezone: 'Europe/Berlin',
}

/** An organization and a key of its own. */
export const createTenant = async (
  { call }: TestService,
  slug: string,
): Promise<{ id: number; key: string; keyId: string }> => {
  const { id } = dataOf(await call('POST', '/organization/create', { body: { name: slug, slug } }))
  const { key, id: keyId } = dataOf(
    await call('POST', '/svc/v1/keys', { body: { name: `of ${slug}`, org_id: id, scopes: ['all'] } }),
  )
  return { id, key, keyId }
}

/** The national number 2025550100 + `n` in an organization; answers the user's record. */
export const createMember = async ({ call }: TestService, orgId: number, n: number, more: object = {}) =>
  dataOf(
    await call('POST', `/organization/${orgId}/create/user`, {
      body: { ...ada, email: `user${n}@acme.example`, mobile: String(2025550100 + n), ...more },
    }),
  )

/** What people sign of a member who has the name that most have here. `n`: as in `createMember`. */
export const twinText = (id: number | string, n = Number(id)): string =>
  `Ada Lovelace (user ${id}, ••••••••0${100 + n}; another member has a name like this)`

/** The rows of a chain, from the first to the last. */
export const chainOf = async ({ call }: TestService, orgId: number): Promise<AuditRow[]> =>
  dataOf(await call('GET', `/svc/v1/audit?org_id=${orgId}`)).toReversed()

/** Rows of a chain as `[action, subject, changes]`, from the first to the last. */
export const auditOf = async (service: TestService, orgId: number): Promise<[string, string, string[]][]> =>
  (await chainOf(service, orgId)).map((row) => [row.action, row.subject, row.changes])

const volatile = new Set(['idempotency', 'signing_keys'])

type Row = { id?: number; last_used_at?: unknown }

/** By number, or by content. */
const inOrder = (rows: Row[]): Row[] => {
  if (rows.every(({ id }) => typeof id === 'number')) return rows.toSorted((a, b) => a.id! - b.id!)
  const texts = new Map(rows.map((row) => [row, JSON.stringify(row)]))
  return rows.toSorted((a, b) => (texts.get(a)! < texts.get(b)! ? -1 : 1))
}

/** Everything in the store except when a key was last used. */
export const contentsOf = async ({ storage, tables }: TestService): Promise<Record<string, unknown[]>> => {
  const read = async (table: string): Promise<[string, Row[]]> => {
    const rows: Row[] = await storage.read((db) =>
      db
        .selectFrom(table as 'api_keys')
        .selectAll()
        .execute(),
    )
    return [table, inOrder(rows.map((row) => Object.assign(row, { last_used_at: undefined })))]
  }
  return Object.fromEntries(await Promise.all(tables.filter((table) => !volatile.has(table)).map(read)))
}

/** The refusal of a request that changes nothing. */
export const refusedWithoutTrace = async (
  service: TestService,
  answer: () => Promise<Answer>,
): Promise<[number, string, string[]]> => {
  const before = await contentsOf(service)
  const said = refusal(await answer())
  deepStrictEqual(await contentsOf(service), before)
  return said
}

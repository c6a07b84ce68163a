import { setImmediate } from 'node:timers/promises'
import { type RawBuilder, type Selectable, sql } from 'kysely'
import { addMs, dayMs, hourMs } from '../../core/iso-time.ts'
import { sha256 } from '../../core/ids.ts'
import type { Log } from '../../core/log.ts'
import { repeatForAll } from '../call/repeat.ts'
import type { RowData } from '../call/row-ids.ts'
import type { Service } from '../call/service.ts'
import { areGroupsWhole } from '../policy/group-rows.ts'
import { isAuthenticKey } from '../keys/rows.ts'
import type { CoveredRow, SealedTable, Tables } from '../storage/schema.ts'
import { readSigningKeys } from './signing-keys.ts'

type AlteredRow = RowData<'listAlteredRows'>[number]
type Deps = Pick<Service, 'storage' | 'keyring'>
/** A stored response ends within days, and says so itself when it is asked for. */
type Table = Exclude<SealedTable, 'signing_keys' | 'idempotency' | 'rule_heads' | 'organizations'>

type SealedRow<T extends Exclude<Table, 'api_keys'>> = CoveredRow<T> & { row_mac: string | null }

/** Rows that one read returns, and those that it may pass to find them. */
const batch = 200
const passedAtMost = 2_000

type Kind = AlteredRow['kind']
type Search<T extends Table> = {
  table: T
  kind: Kind
  orgId: number | undefined
  /** Which rows can still be used: nobody relies on the others, and a large store has mostly those. */
  usable?: RawBuilder<boolean> | undefined
}

/** Rows of one table that are not as the service wrote them. Reads in batches, so that other work goes on in between. */
const findIn = async <T extends Table>(
  { storage }: Deps,
  { table, kind, orgId, usable = sql`true` }: Search<T>,
  isAuthentic: (row: Selectable<Tables[T]>) => boolean,
): Promise<AlteredRow[]> => {
  const altered: AlteredRow[] = []
  for (let last = 0; ;) {
    const { rows, end } = await storage.read(async (db) => {
      const next = db
        .selectFrom(table as 'devices')
        .where('id', '>', last)
        .$if(orgId !== undefined, (query) => query.where('org_id', '=', orgId!))
        .orderBy('id')
      const passed = await next
        .select('id')
        .offset(passedAtMost - 1)
        .limit(1)
        .executeTakeFirst()
      const found = next
        .$if(passed !== undefined, (query) => query.where('id', '<=', passed!.id))
        .where(usable)
        .selectAll()
        .limit(batch)
      return { rows: await found.execute(), end: passed?.id }
    })
    for (const row of rows)
      if (!isAuthentic(row as unknown as Selectable<Tables[T]>)) {
        const { request_id, user_id } = row as { request_id?: string; user_id: number }
        const id = table === 'appointments' || table === 'absences' ? user_id : row.id
        // An operator's key and a person have no organization.
        const org_id = (row.org_id as number | null | undefined) ?? 0
        altered.push({ org_id, kind, id: request_id ?? String(id) })
      }
    if (rows.length === batch) last = rows.at(-1)!.id
    else if (end !== undefined) last = end
    else return altered
    await setImmediate()
  }
}

const findSigningKeys = async ({ storage, keyring }: Deps): Promise<AlteredRow[]> =>
  (await storage.read(readSigningKeys))
    .filter((row) => !keyring.holds('signing_keys', row))
    .map(({ kid }) => ({ org_id: 0, kind: 'signing_key', id: kid }))

/** Organizations with another slug, and those of whose groups a row is missing, or is an older one. */
const findOrganizations = async ({ storage, keyring }: Deps, orgId?: number): Promise<AlteredRow[]> => {
  const orgs = await storage.read((db) =>
    db
      .selectFrom('organizations')
      .$if(orgId !== undefined, (query) => query.where('id', '=', orgId!))
      .select(['id', 'slug', 'row_mac'])
      .orderBy('id')
      .execute(),
  )
  const altered = orgs
    .filter((row) => !keyring.holds('organizations', row))
    .map(({ id }): AlteredRow => ({ org_id: id, kind: 'organization', id: String(id) }))
  for (const { id } of orgs)
    if (!(await storage.read((db) => areGroupsWhole({ db, keyring }, id))))
      altered.push({ org_id: id, kind: 'rule_head', id: String(id) })
  return altered
}

/**
 * Rows that the master key does not authenticate: another program wrote them, and the service does not use them. A row that
 * can no longer be used needs no MAC. With an organization, only its rows; without, also those that belong to none.
 */
export const findAlteredRows = async (deps: Deps, orgId?: number): Promise<AlteredRow[]> => {
  const { keyring, storage } = deps
  const now = storage.now()
  const isWhole = orgId === undefined
  const find = <T extends Exclude<Table, 'api_keys'>>(table: T, kind: Kind, usable?: RawBuilder<boolean>) =>
    findIn(deps, { table, kind, orgId, usable }, (row) => keyring.holds(table, row as SealedRow<T>))
  const unless = (used: string) => sql<boolean>`${sql.ref(used)} is null and expires_at > ${now}`
  return [
    ...(isWhole ? await findSigningKeys(deps) : []),
    ...(await findIn(deps, { table: 'api_keys', kind: 'api_key', orgId }, (row) =>
      isAuthenticKey(keyring, row),
    )),
    ...(await find('devices', 'device')),
    ...(await find('appointments', 'appointment')),
    ...(await find('absences', 'absence')),
    ...(await find('groups', 'group')),
    ...(await findOrganizations(deps, orgId)),
    ...(await findIn(
      deps,
      {
        table: 'approvals',
        kind: 'approval',
        orgId,
        // Whoever is asked for the same within a day reads who denied it.
        usable: sql`erased_at is null and (status in ('pending', 'approved')
          or (row_mac is not null and requested_at > ${addMs(now, -dayMs)}))`,
      },
      // Only an approval has a `use_by`.
      (row) => (row.use_by !== null) === (row.status === 'approved') && keyring.holds('approvals', row),
    )),
    // A ballot without its texts has none: its request has ended.
    ...(await find('ballots', 'approval', sql`nonce <> ''`)),
    ...(await findIn(
      deps,
      { table: 'batch_rows', kind: 'approval', orgId },
      (row) => keyring.holds('batch_rows', row) && sha256(row.data) === row.digest,
    )),
    ...(await find('enrollments', 'link', unless('used_at'))),
    ...(await find('verifications', 'verification', unless('spent_at'))),
    ...(await find('refresh_tokens', 'refresh_token', unless('spent_at'))),
    ...(await find('registrations', 'registration')),
    ...(await find('mobile_accounts', 'account')),
    ...(await find('email_verifications', 'email_link', unless('used_at'))),
    ...(isWhole ? await find('people', 'user') : []),
  ]
}

/** Warns once of each row that another program has changed: soon after the start, and every hour. Returns how to stop. */
export const watchCustody = ({ storage, keyring }: Service, log: Log): (() => Promise<void>) => {
  const reported = new Set<string>()
  const check = async (isStopped: () => boolean): Promise<void> => {
    // It reads a large store for minutes, and a stop waits only for one batch.
    const read: typeof storage.read = async (work) => {
      if (isStopped()) throw new Error('The service stops')
      return storage.read(work)
    }
    for (const { org_id, kind, id } of await findAlteredRows({ storage: { ...storage, read }, keyring })) {
      const name = `${kind.replaceAll('_', ' ')} ${id} of ${org_id === 0 ? 'the service' : `organization ${org_id}`}`
      if (reported.has(name)) continue
      reported.add(name)
      const message = `Another program has changed ${name} in the store, so it is not used`
      log({ at: storage.now(), level: 'warn', message })
    }
  }
  return repeatForAll({ storage, log }, { work: 'check of the rows', everyMs: hourMs, run: check })
}

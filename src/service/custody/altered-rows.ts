import { setImmediate } from 'node:timers/promises'
import type { Selectable } from 'kysely'
import type { audit } from '../../contract/audit.ts'
import type { Log } from '../../core/log.ts'
import type { RowData } from '../call/row-ids.ts'
import type { Service } from '../call/service.ts'
import { isAuthenticKey } from '../keys/rows.ts'
import type { Tables } from '../storage/schema.ts'
import { readSigningKeys } from './signing-keys.ts'
import { takePeriod } from '../storage/period.ts'

type AlteredRow = RowData<typeof audit.listAlteredRows>[number]
type Deps = Pick<Service, 'storage' | 'keyring'>
type Table = 'api_keys' | 'devices' | 'people'

const batch = 200

/** Rows of one table that are not as the service wrote them. Reads in batches, so that other work goes on in between. */
const findIn = async <T extends Table>(
  { storage }: Deps,
  table: T,
  orgId: number | undefined,
  kind: AlteredRow['kind'],
  isAuthentic: (row: Selectable<Tables[T]>) => boolean,
): Promise<AlteredRow[]> => {
  const altered: AlteredRow[] = []
  for (let last = 0; ;) {
    const rows = await storage.read((db) =>
      db
        .selectFrom(table as 'devices')
        .where('id', '>', last)
        .$if(orgId !== undefined, (query) => query.where('org_id', '=', orgId!))
        .selectAll()
        .orderBy('id')
        .limit(batch)
        .execute(),
    )
    for (const row of rows)
      if (!isAuthentic(row as unknown as Selectable<Tables[T]>))
        // An operator's key and a person have no organization.
        altered.push({ org_id: (row.org_id as number | null | undefined) ?? 0, kind, id: String(row.id) })
    if (rows.length < batch) return altered
    last = rows.at(-1)!.id
    await setImmediate()
  }
}

const findSigningKeys = async ({ storage, keyring }: Deps): Promise<AlteredRow[]> =>
  (await storage.read(readSigningKeys))
    .filter((row) => !keyring.holds('signing_keys', row))
    .map(({ kid }) => ({ org_id: 0, kind: 'signing_key', id: kid }))

/**
 * Rows that the master key does not authenticate: another program wrote them, and the service does not use them. With an
 * organization, only its rows; without, also those that belong to no organization.
 */
export const findAlteredRows = async (deps: Deps, orgId?: number): Promise<AlteredRow[]> => {
  const { keyring } = deps
  const isWhole = orgId === undefined
  return [
    ...(isWhole ? await findSigningKeys(deps) : []),
    ...(await findIn(deps, 'api_keys', orgId, 'api_key', (row) => isAuthenticKey(keyring, row))),
    ...(await findIn(deps, 'devices', orgId, 'device', (row) => keyring.holds('devices', row))),
    ...(isWhole ? await findIn(deps, 'people', orgId, 'user', (row) => keyring.holds('people', row)) : []),
  ]
}

const everyMs = 60 * 60_000

/** Warns once of each row that another program has changed: soon after the start, and every hour. Returns how to stop. */
export const watchCustody = ({ storage, keyring }: Service, log: Log): (() => void) => {
  const reported = new Set<string>()
  const warn = (message: string): void => log({ at: storage.now(), level: 'warn', message })
  const check = async (): Promise<void> => {
    if (!(await takePeriod(storage, 'check of the rows', everyMs))) return
    for (const { org_id, kind, id } of await findAlteredRows({ storage, keyring })) {
      const name = `${kind.replace('_', ' ')} ${id} of ${org_id === 0 ? 'the service' : `organization ${org_id}`}`
      if (reported.has(name)) continue
      reported.add(name)
      warn(`Another program has changed ${name} in the store, so it is not used`)
    }
  }
  const checkOrWarn = (): void => void check().catch((error: unknown) => warn(String(error)))
  checkOrWarn()
  const timer = setInterval(checkOrWarn, everyMs).unref()
  return () => clearInterval(timer)
}

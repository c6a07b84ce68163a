import type { Selectable } from 'kysely'
import type { Log } from '../../core/log.ts'
import type { Service } from '../call/service.ts'
import { isAuthenticKey } from '../keys/rows.ts'
import type { Tables } from '../storage/schema.ts'
import { readSigningKeys } from './signing-keys.ts'

export type AlteredRow = {
  /** 0 for what belongs to no organization. */
  org_id: number
  kind: 'signing_key' | 'api_key' | 'device' | 'user'
  id: string
}

type Deps = Pick<Service, 'storage' | 'keyring'>

/** Rows that are looked at before others have their turn. */
const batch = 200

/** A table in parts, so that nobody waits for a whole one. */
async function* partsOf<T extends Table>({ storage }: Deps, table: T, only: number | undefined) {
  for (let last = 0; ;) {
    const rows = await storage.read((db) =>
      db
        .selectFrom(table as 'devices')
        .where('id', '>', last)
        .$if(only !== undefined, (own) => own.where('org_id', '=', only!))
        .selectAll()
        .orderBy('id')
        .limit(batch)
        .execute(),
    )
    yield rows as unknown as Selectable<Tables[T]>[]
    if (rows.length < batch) return
    last = rows.at(-1)!.id
    await new Promise((resolve) => setImmediate(resolve))
  }
}

type Table = 'api_keys' | 'devices' | 'people'

/** Of one table, those that are not as the service wrote them. */
const alteredIn = async <T extends Table>(
  deps: Deps,
  table: T,
  only: number | undefined,
  kind: AlteredRow['kind'],
  holds: (row: Selectable<Tables[T]>) => boolean,
): Promise<AlteredRow[]> => {
  const found: AlteredRow[] = []
  for await (const rows of partsOf(deps, table, only))
    for (const row of rows) {
      const { id, org_id } = row as { id: number; org_id?: number | null }
      if (!holds(row)) found.push({ org_id: org_id ?? 0, kind, id: String(id) })
    }
  return found
}

const alteredSigningKeys = async ({ storage, keyring }: Deps): Promise<AlteredRow[]> =>
  (await storage.read(readSigningKeys))
    .filter((row) => !keyring.holds('signing_keys', row))
    .map(({ kid }) => ({ org_id: 0, kind: 'signing_key', id: kid }))

/**
 * Rows that the master key does not authenticate: another program wrote them, and the service does not use them. Those of
 * one organization, or all with what belongs to none.
 */
export const findAlteredRows = async (deps: Deps, only?: number): Promise<AlteredRow[]> => [
  ...(only === undefined ? await alteredSigningKeys(deps) : []),
  ...(await alteredIn(deps, 'api_keys', only, 'api_key', (row) => isAuthenticKey(deps.keyring, row))),
  ...(await alteredIn(deps, 'devices', only, 'device', (row) => deps.keyring.holds('devices', row))),
  // People belong to no organization: whose number was changed is for the operator to see.
  ...(only === undefined
    ? await alteredIn(deps, 'people', undefined, 'user', (row) => deps.keyring.holds('people', row))
    : []),
]

const everyMs = 60 * 60_000

/** Warns of each row that another program has changed, once: soon after the start, and every hour. Answers how to stop. */
export const watchCustody = ({ storage, keyring }: Service, log: Log): (() => void) => {
  const told = new Set<string>()
  const warn = (message: string): void => log({ at: storage.now(), level: 'warn', message })
  const look = async (): Promise<void> => {
    for (const { org_id, kind, id } of await findAlteredRows({ storage, keyring })) {
      const name = `${kind.replace('_', ' ')} ${id} of ${org_id === 0 ? 'the service' : `organization ${org_id}`}`
      if (told.has(name)) continue
      told.add(name)
      warn(`Another program has changed ${name} in the store, so it is not used`)
    }
  }
  const lookOrWarn = (): void => void look().catch((error: unknown) => warn(String(error)))
  lookOrWarn()
  const timer = setInterval(lookOrWarn, everyMs).unref()
  return () => clearInterval(timer)
}

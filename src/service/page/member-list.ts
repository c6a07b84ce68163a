import { sql } from 'kysely'
import { setImmediate } from 'node:timers/promises'
import type { HandlerOf } from '../call/call.ts'
import { requirePerson, type SignedIn } from '../call/caller.ts'
import { countRows } from '../call/pagination.ts'
import type { RowInput } from '../call/row-ids.ts'
import { isAdministrator } from '../devices/administrators.ts'
import type { Db } from '../storage/schema.ts'
import type { Storage } from '../storage/storage.ts'
import { maskedMember, maskedPerson, readMembers, requireAdmin } from './members.ts'

// An organization can have 50,000 members, and a page lists them again after each change.

const maxShown = 30
/** Read at once in a search, before others get their turn. */
const searchedAtOnce = 500

type State = NonNullable<RowInput<'listMembers'>['state']>

/** Administrators cannot move themselves. */
const selectMembers = (db: Db, { org_id, user_id }: SignedIn, state: State) =>
  db
    .selectFrom('memberships as m')
    .where('m.org_id', '=', org_id)
    .where('m.state', '=', state)
    .where('m.user_id', '<>', user_id)

type Named = { id: number; first_name: string; last_name: string }

const { compare } = new Intl.Collator('en')
const byName = (one: Named, other: Named): number =>
  compare(`${one.first_name} ${one.last_name}`, `${other.first_name} ${other.last_name}`)

/** The first members: active ones by name, pending ones in the order in which they came. */
const readFirst = async (db: Db, person: SignedIn, state: State) => {
  const all = selectMembers(db, person, state)
  const total = await countRows(all)
  const first = await all
    .select(['m.user_id as id', 'm.first_name', 'm.last_name'])
    .$if(state === 'active', (members) =>
      members.orderBy(sql`lower(m.first_name)`).orderBy(sql`lower(m.last_name)`),
    )
    .orderBy('m.id')
    .limit(maxShown)
    .execute()
  return { ids: (state === 'active' ? first.toSorted(byName) : first).map(({ id }) => id), total }
}

const folded = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()

/** Every word must appear in what the page shows of a member. Accents and case do not matter. */
const matching = (find: string) => {
  const words = folded(find).split(/\s+/)
  return ({ first_name, last_name, mobile }: ReturnType<typeof maskedPerson>): boolean => {
    const shown = folded(`${first_name} ${last_name} ${mobile}`)
    return words.every((word) => shown.includes(word))
  }
}

/** The first members that match, in the same order. */
const search = async (
  { read }: Pick<Storage, 'read'>,
  person: SignedIn,
  { state, find }: { state: State; find: string },
) => {
  const matches = matching(find)
  let first: (Named & { last: number })[] = []
  let total = 0
  for (let last = 0; ;) {
    const from = last
    const rows = await read((db) =>
      selectMembers(db, person, state)
        .innerJoin('people as p', 'p.id', 'm.user_id')
        .where('m.id', '>', from)
        .select(['m.id as last', 'p.id', 'm.first_name', 'm.last_name', 'p.mobile as mobile_e164'])
        .orderBy('m.id')
        .limit(searchedAtOnce)
        .execute(),
    )
    const found = rows.filter((row) => matches(maskedPerson(row)))
    total += found.length
    first.push(...found)
    if (state === 'active') first.sort(byName)
    first = first.slice(0, maxShown)
    if (rows.length < searchedAtOnce) return { ids: first.map(({ id }) => id), total }
    last = rows.at(-1)!.last
    await setImmediate()
  }
}

export const listMembers: HandlerOf<'listMembers'> = {
  before: async ({ state = 'pending', find = '' }, { service: { storage }, caller }) => {
    const person = requirePerson(caller)
    const isAllowed = await storage.read((db) => isAdministrator(db, person))
    const searched = find !== '' && isAllowed ? await search(storage, person, { state, find }) : undefined
    return async (call) => {
      const { org_id } = await requireAdmin(call)
      const { ids, total } = searched ?? (await readFirst(call.db, person, state))
      const members = await readMembers(call, org_id, ids, maskedMember)
      return { members: ids.flatMap((id) => members.get(id) ?? []), total }
    }
  },
}

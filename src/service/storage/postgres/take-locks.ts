import { createHash } from 'node:crypto'
import type pg from 'pg'
import { type AuditHead, headColumns } from '../transaction.ts'
import { type DatabaseClock, serverTime } from './clock.ts'

// Advisory locks, which end with their transaction: 16 bits name svc, 48 what is locked.
const space = 0x7376n << 48n
const peopleSpace = 0x7370n << 48n

/** The lock of an organization; 0 is the service itself. */
const lockOf = (org: number): string => String(space | BigInt(org))

/** The lock of all people, which each transaction shares that locks only some of them. */
const lockOfPeople = String(peopleSpace)

/** The lock of the person with a mobile number. Two numbers with the same lock only wait for each other. */
const lockOfNumber = (mobile: string): string =>
  String(peopleSpace | (createHash('sha256').update(mobile).digest().readBigUInt64BE() >> 16n))

/** No organization has this number. */
export const migrationLock = lockOf(2 ** 47)

const lockStatement = {
  name: 'svc_lock',
  text: `select pg_catalog.pg_advisory_xact_lock($1::bigint), ${serverTime} as at`,
}
const tryLockStatement = {
  name: 'svc_try_lock',
  text: `select pg_catalog.pg_try_advisory_xact_lock($1::bigint) as locked, ${serverTime} as at`,
}
const lockNumberStatement = {
  name: 'svc_lock_number',
  text: 'select pg_catalog.pg_advisory_xact_lock_shared($1::bigint), pg_catalog.pg_advisory_xact_lock($2::bigint)',
}
const lockPeopleStatement = {
  name: 'svc_lock_people',
  text: 'select pg_catalog.pg_advisory_xact_lock($1::bigint)',
}
const tryLockNumberStatement = {
  name: 'svc_try_lock_number',
  text: 'select pg_catalog.pg_try_advisory_xact_lock_shared($1::bigint) and pg_catalog.pg_try_advisory_xact_lock($2::bigint) as locked',
}
const tryLockPeopleStatement = {
  name: 'svc_try_lock_people',
  text: 'select pg_catalog.pg_try_advisory_xact_lock($1::bigint) as locked',
}
/** The memory for locks is limited, and all transactions share it. */
const numbersAtMost = 100
const headStatement = {
  name: 'svc_head',
  text: `select ${headColumns.join(', ')} from audit where org_id = $1 order by seq desc limit 1`,
}

/** Locks people until the end of the transaction. With `unlessHeld`, returns false if another transaction has a lock. */
export const lockPeople = async (
  client: pg.PoolClient,
  mobiles: readonly string[],
  unlessHeld: boolean,
): Promise<boolean> => {
  const all = unlessHeld ? tryLockPeopleStatement : lockPeopleStatement
  const one = unlessHeld ? tryLockNumberStatement : lockNumberStatement
  const statements =
    mobiles.length > numbersAtMost
      ? [{ ...all, values: [lockOfPeople] }]
      : mobiles.map((mobile) => ({ ...one, values: [lockOfPeople, lockOfNumber(mobile)] }))
  for (const statement of statements) {
    const { rows } = await client.query<{ locked?: boolean }>(statement)
    if (rows[0]!.locked === false) return false
  }
  return true
}

/**
 * Creates a function that locks an organization until the end of the transaction and then reads the end of its audit, in one round
 * trip, and learns the time of the database. With `unlessHeld`, it returns undefined if another transaction has the lock.
 */
export const createOrganizationLock =
  (clock: DatabaseClock) =>
  async (
    client: pg.PoolClient,
    org: number,
    unlessHeld: boolean,
  ): Promise<{ head: AuditHead | undefined } | undefined> => {
    const statement = unlessHeld ? tryLockStatement : lockStatement
    const [{ rows: locks }, { rows: heads }] = await Promise.all([
      client.query<{ at: number; locked?: boolean }>({ ...statement, values: [lockOf(org)] }),
      client.query<AuditHead>({ ...headStatement, values: [org] }),
    ])
    clock.learn(locks[0]!.at)
    return locks[0]!.locked === false ? undefined : { head: heads[0] }
  }

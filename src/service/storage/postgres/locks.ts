import { createHash } from 'node:crypto'

// Advisory locks, which end with their transaction: 16 bits name svc, 48 what is locked.
const space = 0x7376n << 48n
const peopleSpace = 0x7370n << 48n

const key = (number: number): string => String(space | BigInt(number))

/** The lock of an organization; 0 is the service itself. */
export const lockOf = (org: number): string => key(org)

/** The lock of all people, which each transaction shares that locks only some of them. */
export const lockOfPeople = String(peopleSpace)

/** The lock of the person with a mobile number. Two numbers with the same lock only wait for each other. */
export const lockOfNumber = (mobile: string): string =>
  String(peopleSpace | (createHash('sha256').update(mobile).digest().readBigUInt64BE() >> 16n))

/** No organization has this number. */
export const migrationLock = key(2 ** 47)

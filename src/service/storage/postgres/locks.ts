// Advisory locks, which end with their transaction: 16 bits name svc, 48 what is locked.
const space = 0x7376n << 48n

const key = (number: number): string => String(space | BigInt(number))

/** The lock of an organization; 0 is the service itself. */
export const lockOf = (org: number): string => key(org)

/** No organization has this number. */
export const migrationLock = key(2 ** 47)

import type { Fields } from './kind.ts'

/** Whether a record already says all that these fields say. */
export const sameFields = (fields: Fields, record: unknown): boolean =>
  typeof record === 'object' &&
  record !== null &&
  Object.entries(fields).every(
    ([name, value]) => JSON.stringify((record as Fields)[name]) === JSON.stringify(value),
  )

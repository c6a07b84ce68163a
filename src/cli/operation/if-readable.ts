import { SvcError } from '../../core/errors.ts'

/** What is read only for a question or a hint; undefined if this key, or nobody now, can read it. */
export const ifReadable = <T>(reading: Promise<T>): Promise<T | undefined> =>
  reading.catch((error: unknown) => {
    if (error instanceof SvcError && error.exit !== 'interrupted') return undefined
    throw error
  })

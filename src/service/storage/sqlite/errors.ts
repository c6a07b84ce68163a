import { dirname } from 'node:path'
import { SvcError } from '../../../core/errors.ts'
import type { Refusal } from '../../../core/refusal.ts'
import { damaged as damagedStore } from '../damage.ts'
import { unavailable } from '../storage.ts'

type Problem = { code: string; message: string; hint: string }

const damaged = (file: string): Problem => ({
  code: 'store_damaged',
  message: `${file} is damaged, or is not a store of svc`,
  hint: 'Restore the last backup into a new folder: svc service restore BACKUP.db --data-dir NEWFOLDER',
})
const full = (file: string): Problem => ({
  code: 'store_disk_full',
  message: `The disk of ${dirname(file)} is full`,
  hint: `Free some space (df -h '${dirname(file)}'), then run the command again`,
})
const unwritable = (file: string): Problem => ({
  code: 'store_unwritable',
  message: `${file} cannot be opened or written`,
  hint: `Check its owner and its mount (ls -l '${file}'; findmnt -T '${file}'): this user must be able to write there`,
})
const busy = (file: string): Problem => ({
  code: 'store_busy',
  message: `Another program has locked ${file}`,
  hint: `Stop that program first (fuser -v '${file}' shows it)`,
})

const problems: Record<string, (file: string) => Problem> = {
  SQLITE_NOTADB: damaged,
  SQLITE_CORRUPT: damaged,
  SQLITE_FULL: full,
  SQLITE_READONLY: unwritable,
  SQLITE_CANTOPEN: unwritable,
  SQLITE_IOERR: unwritable,
  SQLITE_PERM: unwritable,
  SQLITE_BUSY: busy,
  SQLITE_LOCKED: busy,
}

/** Codes after which the store may work again later. */
const temporary = new Set([
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'SQLITE_READONLY',
  'SQLITE_CANTOPEN',
  'SQLITE_BUSY',
  'SQLITE_NOMEM',
])

/** The primary code of an error of SQLite, without its extension: SQLITE_IOERR, not SQLITE_IOERR_FSYNC. */
const codeOf = (error: unknown): string | undefined => {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' ? /^SQLITE_[A-Z]+/.exec(code)?.[0] : undefined
}

/** Whether the embedded engine, or the file under it, failed. */
export const isOfFile = (error: unknown): boolean =>
  codeOf(error) !== undefined || (error instanceof Error && 'path' in error)

export const isBusy = (error: unknown): boolean => codeOf(error) === 'SQLITE_BUSY'

/** Whether the file is no store, or not all of one. */
export const isDamage = (error: unknown): boolean => problems[codeOf(error) ?? ''] === damaged

/** The error of the engine for a damaged store. */
export const damage = (reason: string): Error => Object.assign(new Error(reason), { code: 'SQLITE_CORRUPT' })

/** The error of a write that the disk refused. */
export const refused = (cause: unknown): Refusal =>
  isDamage(cause)
    ? damagedStore(cause)
    : unavailable(cause, 'Check that the disk of the data folder has room and is writable, then try again')

/** A full disk, a lost file or a damaged one as a Refusal 503; any other error as it is. */
export const asUnavailable = (error: unknown): unknown =>
  isDamage(error) || temporary.has(codeOf(error) ?? '') ? refused(error) : error

const codeInside = (error: unknown): string | undefined => {
  const { cause } = (error ?? {}) as { cause?: unknown }
  return codeOf(error) ?? (cause === undefined ? undefined : codeInside(cause))
}

/** An error of the store in `file` as an SvcError with the next command; any other error as it is. */
export const asStoreProblem = (file: string, error: unknown): unknown => {
  if (error instanceof SvcError) return error
  const problem = problems[codeInside(error) ?? '']?.(file)
  if (!problem) return error
  const { cause = error } = error as Error
  return new SvcError('failed', problem.code, problem.message, {
    detail: (cause as Error).message,
    hint: problem.hint,
    cause: error,
  })
}

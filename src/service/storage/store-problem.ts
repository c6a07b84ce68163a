import { dirname } from 'node:path'
import { SvcError } from '../../core/errors.ts'

type Problem = { code: string; message: string; hint: string }

const damaged = (file: string): Problem => ({
  code: 'store_damaged',
  message: `${file} is damaged, or is not a store of svc`,
  hint: 'Restore the last backup into a new folder: svc service restore BACKUP.db --data-dir NEWFOLDER',
})
const full = (file: string): Problem => ({
  code: 'store_disk_full',
  message: `The disk of ${dirname(file)} is full`,
  hint: `Free some room (df -h '${dirname(file)}'), then type the command again`,
})
const unwritable = (file: string): Problem => ({
  code: 'store_unwritable',
  message: `${file} cannot be opened or written`,
  hint: `Check its owner and its mount (ls -l '${file}'; findmnt -T '${file}'): this user must be able to write there`,
})
const busy = (file: string): Problem => ({
  code: 'store_busy',
  message: `Another program has locked ${file}`,
  hint: `Stop that program first (fuser -v '${file}' names it)`,
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

const codeOf = (error: unknown): string | undefined => {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown }
  const primary = typeof code === 'string' ? /^SQLITE_[A-Z]+/.exec(code)?.[0] : undefined
  return primary ?? (cause === undefined ? undefined : codeOf(cause))
}

/** An error of the store in `file` as an SvcError with the next command; any other error as it is. */
export const asStoreProblem = (file: string, error: unknown): unknown => {
  if (error instanceof SvcError) return error
  const problem = problems[codeOf(error) ?? '']?.(file)
  if (!problem) return error
  const { cause = error } = error as Error
  return new SvcError('failed', problem.code, problem.message, {
    detail: (cause as Error).message,
    hint: problem.hint,
    cause: error,
  })
}

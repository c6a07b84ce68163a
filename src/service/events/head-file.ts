import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { SvcError } from '../../core/errors.ts'
import type { AuditHead } from '../../receipt/chain.ts'

const hints: Record<string, string> = {
  ENOENT: 'Create its folder first',
  EISDIR: 'Name a file, not a folder',
  EACCES: 'Use a file that this user can append to',
}

/** Opens the file for `--audit-heads`, to which signed heads are appended, one JSON object in each line. Throws an SvcError: a service that cannot leave a witness must not seem to. */
export const openHeadFile = (path: string) => {
  let fd: number
  try {
    fd = openSync(path, 'a', 0o600)
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException
    throw new SvcError('usage', 'heads_unwritable', `--audit-heads ${path} cannot be appended to`, {
      detail: message,
      hint: hints[code] ?? 'Use a file on a disk that can be written',
      cause,
    })
  }
  return {
    append: (heads: readonly (AuditHead & { at: string; jws: string })[]): void => {
      if (heads.length === 0) return
      const bytes = Buffer.from(heads.map((head) => `${JSON.stringify(head)}\n`).join(''))
      for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at)
      fsyncSync(fd)
    },
    close: (): void => closeSync(fd),
  }
}

export type HeadFile = ReturnType<typeof openHeadFile>

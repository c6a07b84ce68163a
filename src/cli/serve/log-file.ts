import { closeSync, openSync, writeSync } from 'node:fs'
import { SvcError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'

const open = (file: string): number => {
  try {
    return openSync(file, 'a', 0o600)
  } catch (error) {
    throw new SvcError('failed', 'log_unwritable', `--log-file ${shellQuote(file)} cannot be written`, {
      detail: (error as Error).message,
      hint: 'Use a file in a folder that this user can write to',
      cause: error,
    })
  }
}

/** Appends to a file. `reopen` creates it again after logrotate has moved it. What cannot be written goes to `instead`. */
export const openLogFile = (file: string, instead: (text: string) => void) => {
  let descriptor = open(file)
  return {
    write: (text: string): void => {
      try {
        writeSync(descriptor, text)
      } catch {
        instead(text)
      }
    },
    reopen: (): void => {
      try {
        const next = open(file)
        closeSync(descriptor)
        descriptor = next
      } catch (error) {
        instead(`${(error as Error).message}\n`)
      }
    },
  }
}

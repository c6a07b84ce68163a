import { resolve } from 'node:path'
import { SvcError, usageError } from '../../core/errors.ts'
import { readAtMost } from '../../core/read-at-most.ts'
import type { Io } from './io.ts'

/** As much as standard input takes. */
const mostMiB = 64

/** The text of a file, `-` is standard input. `flag` is what an error names: `--input`. */
export const readText = async (file: string, io: Io, flag: string): Promise<string> => {
  if (file === '-') return io.stdin.text()
  try {
    const bytes = readAtMost(resolve(io.cwd, file), mostMiB * 1024 * 1024)
    if (bytes) return bytes.toString('utf8')
    throw usageError(`${flag}: ${file} is larger than ${mostMiB} MiB`)
  } catch (error) {
    if (error instanceof SvcError) throw error
    const { code } = error as NodeJS.ErrnoException
    const why = {
      ENOENT: 'it does not exist',
      EISDIR: 'it is a folder',
      EACCES: 'permission denied',
    }[code ?? '']
    throw usageError(`${flag}: cannot read the file ${file}${why ? `: ${why}` : ''}`)
  }
}

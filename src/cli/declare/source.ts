import { closeSync, openSync, readSync } from 'node:fs'
import { resolve } from 'node:path'
import { SvcError, usageError } from '../../core/errors.ts'
import { textOf } from '../bulk/encoding.ts'
import type { Io } from '../io.ts'

/** Eight times what an organization of 5,000 users takes. */
const mostBytes = 10 * 1024 * 1024

const tooLarge = (name: string): SvcError =>
  usageError(`${name} is larger than 10 MiB`, 'svc user import takes lists that large')

const bytesOf = (file: string, { cwd }: Io): Buffer => {
  let fd: number | undefined
  try {
    fd = openSync(resolve(cwd, file), 'r')
    // Not by its size: a pipe has none, and a device may never end.
    const chunks: Buffer[] = []
    for (let size = 0; size <= mostBytes;) {
      const chunk = Buffer.alloc(256 * 1024)
      const read = readSync(fd, chunk)
      if (read === 0) return Buffer.concat(chunks)
      chunks.push(chunk.subarray(0, read))
      size += read
    }
    throw tooLarge(file)
  } catch (error) {
    if (error instanceof SvcError) throw error
    const { code } = error as NodeJS.ErrnoException
    throw usageError(
      code === 'EISDIR' ? `${file} is a folder` : `Cannot read ${file} (${code})`,
      '-f org.yaml',
    )
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

export type Source = { name: string; text: string }

/** The text of a file, or of standard input for `-`. Fails with a usage error when it is too large or no UTF-8. */
export const readSource = async (file: string, io: Io): Promise<Source> => {
  const name = file === '-' ? 'standard input' : file
  if (file === '-' && io.stdin.isTTY)
    throw usageError('-f - reads standard input: pipe a file into it', '-f org.yaml')
  const bytes = file === '-' ? await io.stdin.bytes() : bytesOf(file, io)
  if (bytes.length > mostBytes) throw tooLarge(name)
  return { name, text: textOf(bytes, name) }
}

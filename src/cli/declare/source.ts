import { resolve } from 'node:path'
import { usageError, type SvcError } from '../../core/errors.ts'
import { readAtMost } from '../../core/read-at-most.ts'
import { textOf } from '../terminal/encoding.ts'
import type { Io } from '../terminal/io.ts'

/** Eight times what an organization of 5,000 users takes. */
const mostBytes = 10 * 1024 * 1024

const tooLarge = (name: string): SvcError =>
  usageError(`${name} is larger than 10 MiB`, 'Use svc user import for lists of this size')

const bytesOf = (file: string, { cwd }: Io): Buffer => {
  let bytes: Buffer | undefined
  try {
    bytes = readAtMost(resolve(cwd, file), mostBytes)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw usageError(
      code === 'EISDIR' ? `${file} is a folder` : `Cannot read ${file} (${code})`,
      'svc export --org acme > org.yaml writes a file like this',
    )
  }
  if (!bytes) throw tooLarge(file)
  return bytes
}

export type Source = { name: string; text: string }

/** The text of a file, or of standard input for `-`. Fails with a usage error when it is too large or no UTF-8. */
export const readSource = async (file: string, io: Io): Promise<Source> => {
  const name = file === '-' ? 'standard input' : file
  if (file === '-' && io.stdin.isTTY)
    throw usageError('- reads standard input: pipe a file into it', 'svc apply - < org.yaml')
  const bytes = file === '-' ? await io.stdin.bytes() : bytesOf(file, io)
  if (bytes.length > mostBytes) throw tooLarge(name)
  return { name, text: textOf(bytes, name) }
}

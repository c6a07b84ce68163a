import { closeSync, openSync, readSync } from 'node:fs'
import { resolve } from 'node:path'
import { isUtf8 } from 'node:buffer'
import { usageError } from '../../core/errors.ts'
import { parseJson } from '../../core/parse-json.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Io } from './io.ts'

const whys: Record<string, string> = {
  ENOENT: 'it does not exist',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
}

type Reading = {
  /** The flag of the file: `--input`. Absent for an argument. */
  flag?: string
  /** The file has a secret: a value that may be the secret itself is not repeated. */
  secret?: boolean
  /** Size limit; by default the same as for standard input. */
  mostMiB?: number
  hint?: string
  /** What to do if the file is too large. */
  split?: string
}

/** `code.txt`, `./code` or `/run/code`, unlike a code that was typed in the place of its file. */
export const looksLikePath = (text = ''): boolean => /^(?:\.{0,2}|~)\/|^[\w.-]+\.[a-z]{2,4}$/.test(text)

const chunkBytes = 256 * 1024

/**
 * Reads a whole file; undefined if it has more than `mostBytes`. It does not rely on the size of the file: a pipe has none,
 * and a device never ends. Throws system errors.
 */
const readAtMost = (path: string, mostBytes: number): Buffer | undefined => {
  const fd = openSync(path, 'r')
  try {
    const chunks: Buffer[] = []
    for (let size = 0; size <= mostBytes;) {
      const chunk = Buffer.allocUnsafe(chunkBytes)
      const read = readSync(fd, chunk)
      if (read === 0) return Buffer.concat(chunks)
      chunks.push(chunk.subarray(0, read))
      size += read
    }
    return undefined
  } finally {
    closeSync(fd)
  }
}

/** The bytes of a file. Throws a usage error that names the file and the reason if it cannot be read. */
export const readBytes = (
  file: string,
  { cwd }: Pick<Io, 'cwd'>,
  { flag, secret = false, mostMiB = 64, hint, split = hint }: Reading = {},
): Buffer => {
  const shown = secret && !looksLikePath(file) ? '' : ` ${safeLine(file)}`
  let bytes: Buffer | undefined
  try {
    bytes = readAtMost(resolve(cwd, file), mostMiB * 1024 * 1024)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    throw usageError(
      `${flag === undefined ? 'Cannot' : `${flag}: cannot`} read the file${shown}: ${whys[code] ?? code}`,
      shown === '' ? 'Give the path of a file that contains the secret, or - for standard input' : hint,
    )
  }
  if (bytes) return bytes
  throw usageError(
    `${flag === undefined ? '' : `${flag}: `}${shown.trim() || 'the file'} is larger than ${mostMiB} MiB`,
    split,
  )
}

/** Like `readBytes`; `-` is standard input, which must be a pipe. */
export const readInput = async (file: string, io: Io, reading: Reading = {}): Promise<Buffer> => {
  if (file !== '-') return readBytes(file, io, reading)
  if (io.stdin.isTTY) throw usageError('- reads standard input: pipe a file into it', reading.hint)
  return io.stdin.bytes()
}

/** The text of a file; `-` is standard input. Errors name the flag (`--input`). */
export const readText = async (file: string, io: Io, flag: string, reading: Reading = {}): Promise<string> =>
  file === '-' ? io.stdin.text() : readBytes(file, io, { ...reading, flag }).toString('utf8')

/** The value in a JSON file; `-` is standard input. */
export const readJson = async (file: string, io: Io, flag: string, hint?: string): Promise<unknown> => {
  const value = parseJson(await readText(file, io, flag))
  if (value !== undefined) return value
  throw usageError(`${flag}: ${file === '-' ? 'standard input' : file} is not valid JSON`, hint)
}

const saveAs = 'Save it as UTF-8 (in a spreadsheet: CSV UTF-8)'

/** The text of a file, without a byte order mark. Throws a usage error if it is not UTF-8. */
export const textOf = (bytes: Buffer, source: string): string => {
  if (bytes.includes(0)) throw usageError(`${source} is not text, but probably UTF-16`, saveAs)
  if (!isUtf8(bytes)) throw usageError(`${source} is not UTF-8, but probably Latin-1 or Windows-1252`, saveAs)
  return bytes.toString('utf8').replace(/^\uFEFF/, '')
}

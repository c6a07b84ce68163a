import { resolve } from 'node:path'
import { isUtf8 } from 'node:buffer'
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

const saveAs = 'Save it as UTF-8 (in a spreadsheet: CSV UTF-8)'

const replacement = Buffer.from('\uFFFD')

/** Where the first byte stands that is no UTF-8, counted from 1. */
const firstBad = (bytes: Buffer): { line: number; byte: number; value: number } => {
  const text = bytes.toString('utf8')
  for (let at = text.indexOf('\uFFFD'), from = 0, offset = 0; at >= 0; at = text.indexOf('\uFFFD', at + 1)) {
    offset += Buffer.byteLength(text.slice(from, at))
    from = at
    // The file may hold the very character that stands for what cannot be read.
    if (bytes.subarray(offset, offset + replacement.length).equals(replacement)) continue
    const line = text.slice(0, at).split('\n').length
    return { line, byte: offset - bytes.lastIndexOf(0x0a, offset), value: bytes[offset]! }
  }
  return { line: 1, byte: 1, value: bytes[0]! }
}

const wrong = (source: string, bytes: Buffer): SvcError => {
  const { line, byte, value } = firstBad(bytes)
  const shown = `0x${value.toString(16).toUpperCase().padStart(2, '0')}`
  return usageError(
    `${source} is not UTF-8: line ${line}, byte ${byte} is ${shown}, as Latin-1 or Windows-1252 has it`,
    saveAs,
  )
}

/** The text of a file, without a byte order mark. Fails with a usage error that says where it is no UTF-8. */
export const textOf = (bytes: Buffer, source: string): string => {
  const [first, second] = bytes
  const wide = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  if (wide) throw usageError(`${source} is UTF-16`, saveAs)
  const nul = bytes.indexOf(0)
  if (nul >= 0) throw usageError(`${source} is no text: byte ${nul + 1} is 0, as in UTF-16`, saveAs)
  if (!isUtf8(bytes)) throw wrong(source, bytes)
  return bytes.toString('utf8').replace(/^\uFEFF/, '')
}

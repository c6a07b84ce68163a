import { closeSync, openSync, readSync } from 'node:fs'

const chunkBytes = 256 * 1024

/**
 * Reads a whole file; undefined if it has more than `mostBytes`. It does not rely on the size of the file: a pipe has none,
 * and a device never ends. Throws system errors.
 */
export const readAtMost = (path: string, mostBytes: number): Buffer | undefined => {
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

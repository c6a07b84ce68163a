// Reads just enough of an image to know that it is one, and how large.

export type Image = { type: 'image/png' | 'image/webp'; width: number; height: number }

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Each part has a length, a name and a checksum; the first is IHDR, the last IEND. `acTL` would animate it. */
const readPng = (bytes: Buffer): Image | undefined => {
  if (!bytes.subarray(0, 8).equals(pngSignature)) return undefined
  const names: string[] = []
  let at = 8
  while (at + 12 <= bytes.length && names.at(-1) !== 'IEND') {
    names.push(bytes.toString('latin1', at + 4, at + 8))
    at += 12 + bytes.readUInt32BE(at)
  }
  const isWhole = at === bytes.length && names[0] === 'IHDR' && names.at(-1) === 'IEND'
  if (!isWhole || !names.includes('IDAT') || names.includes('acTL')) return undefined
  return { type: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}

const sizeOfWebp = (bytes: Buffer): { width: number; height: number } | undefined => {
  const kind = bytes.toString('latin1', 12, 16)
  if (kind === 'VP8 ' && bytes.readUIntBE(23, 3) === 0x9d012a)
    return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
  if (kind === 'VP8L' && bytes[20] === 0x2f) {
    const bits = bytes.readUInt32LE(21)
    return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 }
  }
  // The second bit animates it.
  if (kind === 'VP8X' && (bytes[20]! & 2) === 0)
    return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
  return undefined
}

const readWebp = (bytes: Buffer): Image | undefined => {
  const isRiff = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP'
  if (!isRiff || bytes.length < 30 || bytes.readUInt32LE(4) !== bytes.length - 8) return undefined
  const size = sizeOfWebp(bytes)
  return size && { type: 'image/webp', ...size }
}

/** What a still PNG or WebP image is; undefined if these bytes are none. */
export const readImage = (bytes: Buffer): Image | undefined => readPng(bytes) ?? readWebp(bytes)

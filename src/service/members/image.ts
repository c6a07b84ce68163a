// Reads just enough of an image to know that it is one, and how large, and keeps only what draws it: not the place where a
// photo was taken, nor anything else that was packed into it.

export type Image = { type: 'image/png' | 'image/webp'; width: number; height: number; bytes: Buffer }

type Part = { name: string; content: Buffer; whole: Buffer }

const join = (head: Buffer, parts: readonly Part[]): Buffer =>
  Buffer.concat([head, ...parts.map(({ whole }) => whole)])

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
/** The image, and its colours and proportions. */
const pngParts = new Set('IHDR PLTE IDAT IEND tRNS bKGD cHRM gAMA iCCP sBIT sRGB pHYs'.split(' '))

/** Each part has a length, a name and a checksum. Undefined if they do not fill the file exactly. */
const splitPng = (bytes: Buffer): Part[] | undefined => {
  const parts: Part[] = []
  let at = 8
  while (at + 12 <= bytes.length) {
    const end = at + 12 + bytes.readUInt32BE(at)
    const name = bytes.toString('latin1', at + 4, at + 8)
    parts.push({ name, content: bytes.subarray(at + 8, end - 4), whole: bytes.subarray(at, end) })
    at = end
  }
  return at === bytes.length ? parts : undefined
}

/** The first part is IHDR, the last IEND. `acTL` would animate it. */
const readPng = (bytes: Buffer): Image | undefined => {
  const parts = bytes.subarray(0, 8).equals(pngSignature) ? splitPng(bytes) : undefined
  const names = parts?.map(({ name }) => name) ?? []
  const isWhole = names.indexOf('IEND') === names.length - 1 && names.lastIndexOf('IHDR') === 0
  const header = parts?.[0]?.content
  if (!parts || !isWhole || header?.length !== 13 || !names.includes('IDAT') || names.includes('acTL'))
    return undefined
  return {
    type: 'image/png',
    width: header.readUInt32BE(0),
    height: header.readUInt32BE(4),
    bytes: join(
      pngSignature,
      parts.filter(({ name }) => pngParts.has(name)),
    ),
  }
}

/** Each part has a name, a length and its content, which is padded to an even length. */
const splitWebp = (bytes: Buffer): Part[] | undefined => {
  const parts: Part[] = []
  let at = 12
  while (at + 8 <= bytes.length) {
    const length = bytes.readUInt32LE(at + 4)
    const end = at + 8 + length + (length % 2)
    const name = bytes.toString('latin1', at, at + 4)
    parts.push({ name, content: bytes.subarray(at + 8, at + 8 + length), whole: bytes.subarray(at, end) })
    at = end
  }
  return at === bytes.length ? parts : undefined
}

type Size = { width: number; height: number }

/** Of the image itself: the head of an extended file can say something else. */
const sizeOf = ({ name, content }: Part): Size | undefined => {
  if (name === 'VP8 ' && content.length >= 10 && content.readUIntBE(3, 3) === 0x9d012a)
    return { width: content.readUInt16LE(6) & 0x3fff, height: content.readUInt16LE(8) & 0x3fff }
  if (name !== 'VP8L' || content.length < 5 || content[0] !== 0x2f) return undefined
  const bits = content.readUInt32LE(1)
  return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 }
}

const webpParts = new Set(['VP8X', 'VP8 ', 'VP8L', 'ALPH', 'ICCP'])
/** Of an extended file: it is animated, and it has EXIF or XMP data, which are removed. */
const [animated, described] = [0b10, 0b1100]

const isOfSize = ({ content }: Part, { width, height }: Size): boolean =>
  content.length === 10 &&
  (content[0]! & animated) === 0 &&
  content.readUIntLE(4, 3) === width - 1 &&
  content.readUIntLE(7, 3) === height - 1

/** The same part of an extended file without descriptions. */
const undescribed = (part: Part): Part => {
  if (part.name !== 'VP8X') return part
  const whole = Buffer.from(part.whole)
  whole[8]! &= ~described
  return { ...part, whole }
}

const readWebp = (bytes: Buffer): Image | undefined => {
  const isRiff = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP'
  if (!isRiff || bytes.readUInt32LE(4) !== bytes.length - 8) return undefined
  const kept = splitWebp(bytes)?.filter(({ name }) => webpParts.has(name)) ?? []
  const images = kept.filter(({ name }) => name === 'VP8 ' || name === 'VP8L')
  const size = images.length === 1 ? sizeOf(images[0]!) : undefined
  const isExtended = kept[0]?.name === 'VP8X'
  const fits = size && (isExtended ? isOfSize(kept[0]!, size) : kept.length === 1)
  if (!fits || kept.filter(({ name }) => name === 'VP8X').length > 1) return undefined
  const clean = join(bytes.subarray(0, 12), kept.map(undescribed))
  clean.writeUInt32LE(clean.length - 8, 4)
  return { type: 'image/webp', ...size, bytes: clean }
}

/** What a still PNG or WebP image is; undefined if these bytes are none. */
export const readImage = (bytes: Buffer): Image | undefined => readPng(bytes) ?? readWebp(bytes)

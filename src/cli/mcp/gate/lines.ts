const newline = 0x0a
const carriageReturn = 0x0d

type Handlers = {
  line(bytes: Buffer): void
  /** A message was longer than `most`, and was discarded. */
  tooLong(): void
}

/**
 * Splits a stream into lines of bytes, without their ends, and skips empty ones. The rest of a stream that ends within a line is
 * not a message.
 */
export const createLineSplitter = (most: number, { line, tooLong }: Handlers): ((chunk: Buffer) => void) => {
  let parts: Buffer[] = []
  let size = 0
  const add = (part: Buffer): void => {
    size += part.length
    if (size <= most) parts.push(part)
    else parts = []
  }
  const end = (): void => {
    const whole = Buffer.concat(parts)
    const isTooLong = size > most
    parts = []
    size = 0
    if (isTooLong) return tooLong()
    const bytes = whole.at(-1) === carriageReturn ? whole.subarray(0, -1) : whole
    if (bytes.length > 0) line(bytes)
  }
  return (chunk) => {
    let from = 0
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      add(chunk.subarray(from, at))
      end()
      from = at + 1
    }
    add(chunk.subarray(from))
  }
}

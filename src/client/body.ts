import { isUtf8 } from 'node:buffer'
import { SvcError } from '../core/errors.ts'
import { safeLine } from '../core/safe-text.ts'

/** The largest answer that is read, before and after decompression. */
export const mostBytes = 64 * 1024 * 1024

const unexpected = (message: string): SvcError =>
  new SvcError('failed', 'unexpected_answer', message, {
    hint: 'Check the address: svc profile show --explain',
  })

/** We ask for no compression, and yet some proxies compress. */
const decompress = async (body: Buffer, encoding: string, host: string): Promise<Buffer> => {
  const zlib = await import('node:zlib')
  const { promisify } = await import('node:util')
  const limit = { maxOutputLength: mostBytes }
  try {
    if (encoding === 'gzip' || encoding === 'x-gzip') return await promisify(zlib.gunzip)(body, limit)
    if (encoding === 'deflate') return await promisify(zlib.inflate)(body, limit)
    if (encoding === 'br') return await promisify(zlib.brotliDecompress)(body, limit)
  } catch {
    throw unexpected(`The answer of ${host} says it is ${encoding}, and cannot be read as that`)
  }
  throw unexpected(
    `The answer of ${host} is encoded as ${safeLine(encoding).slice(0, 40)}, which svc does not read`,
  )
}

/** The text of a body. Fails when it is compressed in a way we do not know, or is no UTF-8. */
export const decodeBody = async (
  body: Buffer,
  encoding: string | undefined,
  host: string,
): Promise<string> => {
  const way = (encoding ?? '').trim().toLowerCase()
  const plain =
    way === '' || way === 'identity' || body.length === 0 ? body : await decompress(body, way, host)
  if (!isUtf8(plain)) throw unexpected(`The answer of ${host} is not UTF-8 text`)
  return plain.toString('utf8').replace(/^\uFEFF/, '')
}

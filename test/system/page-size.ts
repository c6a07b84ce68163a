import { existsSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const page = fileURLToPath(new URL('../../dist/approver/', import.meta.url))

/** What the page is made of in English, besides its icons. */
const files = ['index.html', 'app.js', 'style.css', 'sw.js']

/** In bytes, as the service sends it to a browser that accepts brotli. */
export const compressedSize = (): number =>
  files.reduce((sum, name) => {
    const packed = `${page}${name}.br`
    return sum + (existsSync(packed) ? statSync(packed).size : statSync(page + name).size)
  }, 0)

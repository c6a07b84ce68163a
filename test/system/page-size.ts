import { existsSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const page = fileURLToPath(new URL('../../dist/approver/', import.meta.url))

/** What a phone downloads to use the page in English. */
const files = [
  'index.html',
  'app.js',
  'style.css',
  'sw.js',
  'manifest.webmanifest',
  'icon.svg',
  'icon-192.png',
]

/** In bytes, as the service sends it to a browser that accepts brotli. */
export const compressedSize = (): number =>
  files.reduce((sum, name) => {
    const packed = `${page}${name}.br`
    return sum + (existsSync(packed) ? statSync(packed).size : statSync(page + name).size)
  }, 0)

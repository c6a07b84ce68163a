import { existsSync, readdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const page = fileURLToPath(new URL('../../dist/page/', import.meta.url))

/** The bytes of these files as the service sends them to a browser that accepts brotli. */
export const sizeOf = (files: Iterable<string>): number =>
  [...files]
    .map((name) => (existsSync(`${page}${name}.br`) ? `${page}${name}.br` : page + name))
    .reduce((sum, file) => sum + statSync(file).size, 0)

/** In another language, a manifest is its texts. */
const uncounted = /\.(?:br|json|png)$|^[a-z]{2}\.webmanifest$/

/** The bytes of every file of the page, less the texts of all languages and the icons of an installation. */
export const sizeWithoutLanguages = (): number =>
  sizeOf(readdirSync(page).filter((name) => !uncounted.test(name)))

/** The bytes that a first visit in a language fetches: what the page and its worker need. */
export const sizeOfFirstVisit = (language: string): number =>
  sizeOf([
    'index.html',
    'app.js',
    'style.css',
    'sw.js',
    'manifest.webmanifest',
    'icon.svg',
    'icon-192.png',
    `${language}.json`,
  ])

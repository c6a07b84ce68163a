import { existsSync, readdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const page = fileURLToPath(new URL('../../dist/page/', import.meta.url))

/** The bytes of these files as the service sends them to a browser that accepts brotli. */
export const sizeOf = (files: Iterable<string>): number =>
  [...files]
    .map((name) => (existsSync(`${page}${name}.br`) ? `${page}${name}.br` : page + name))
    .reduce((sum, file) => sum + statSync(file).size, 0)

/** In another language, a manifest is its texts. */
const uncounted = /\.(?:br|json|png)$|^[a-z]{2}\.webmanifest$|^further\.js$/

/** The bytes of all files of the page, less its further screens, the texts of all languages and the icons of an installation. */
export const sizeWithoutLanguages = (): number =>
  sizeOf(readdirSync(page).filter((name) => !uncounted.test(name)))

/** What the page and its worker fetch on a first visit in a language. */
export const firstVisit = (language: string): string[] => [
  'app.js',
  'icon-192.png',
  'icon.svg',
  'index.html',
  'manifest.webmanifest',
  'style.css',
  'sw.js',
  `${language}.json`,
]

export const sizeOfFirstVisit = (language: string): number => sizeOf(firstVisit(language))

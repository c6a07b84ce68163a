import { existsSync, readdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const page = fileURLToPath(new URL('../../dist/page/', import.meta.url))
const pageScripts = new URL('../../scripts/page.mjs', import.meta.url).href

/** The bytes of these files as the service sends them to a browser that accepts brotli. */
export const sizeOf = (files: Iterable<string>): number =>
  [...files]
    .map((name) => (existsSync(`${page}${name}.br`) ? `${page}${name}.br` : page + name))
    .reduce((sum, file) => sum + statSync(file).size, 0)

/** In another language, a manifest is its texts. */
const uncounted = /\.(?:br|json|png)$|^[a-z]{2}\.webmanifest$/

/** The bytes of every file of the page, less the texts of all languages and the icons of an installation. */
export const sizeWithoutLanguages = async (): Promise<number> => {
  const { bareScript } = (await import(pageScripts)) as { bareScript(): Promise<Buffer> }
  const others = readdirSync(page).filter((name) => !uncounted.test(name) && name !== 'app.js')
  return sizeOf(others) + (await bareScript()).length
}

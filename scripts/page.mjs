import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import { rolldown } from 'rolldown'
import { inProgram } from './bundled.mjs'
import { pageRoutes } from './contract-manifest.mjs'
import { englishModule, languages, numberedKeys, packLanguage } from './messages.mjs'

// The approver page: one script that a tag loads, its service worker, and static files, each with its brotli form.

const root = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))
const statics = root('src/page/public')

/** The style sheet, in this order: what is general first. */
const sheets = ['colours', 'page', 'text', 'controls', 'lists', 'request', 'system-colours']

const style = () =>
  sheets
    .map((name) => readFileSync(root(`src/page/style/${name}.css`), 'utf8'))
    .join('')
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,]) /g, '$1')
    .replaceAll(': ', ':')
    .replaceAll(';}', '}')

/** Each key in the source becomes the number of its text, so that no key is sent to a browser. */
const numberTexts = () => {
  const numbers = new Map(numberedKeys().map((key, number) => [key, ` ${number}`]))
  return {
    name: 'number-texts',
    transform: (code, id) =>
      id.startsWith(root('src/page/'))
        ? code.replaceAll(/'([a-z]+\.\w+)'/g, (literal, key) => numbers.get(key) ?? literal)
        : undefined,
  }
}

/** The chunks of a script: its own first, which the others share modules with. */
const chunksOf = async (input, format, define = {}) => {
  const all = { ROUTES: JSON.stringify(pageRoutes), ...define }
  const bundle = await rolldown({
    input: root(input),
    preserveEntrySignatures: 'allow-extension',
    platform: 'browser',
    transform: { define: all },
    plugins: [numberTexts(), inProgram],
  })
  const { output } = await bundle.generate({
    format,
    minify: true,
    comments: { annotation: false },
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
  })
  await bundle.close()
  return output
}

const script = async (...of) => (await chunksOf(...of))[0].code

/** Imports name the version too: a browser takes each address for another module, and `app.js` must start once. */
const versioned = (code) =>
  code.replaceAll(/(["'`])\.\/(app|further)\.js\1/g, '$1/approver/$2.js?v=PAGE_VERSION$1')

const sha256 = (data) => createHash('sha256').update(data)

const brotli = (data) =>
  brotliCompressSync(data, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: data.length,
      // Measured: the smallest for the script.
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_FONT,
    },
  })

/** The bytes of each file of the page by its name. */
export const pageFiles = async () => {
  // The types of the texts, and what the worker can say without a file.
  writeFileSync(root('src/page/language/english.ts'), englishModule())

  const files = new Map(readdirSync(statics).map((name) => [name, readFileSync(join(statics, name))]))
  files.set('style.css', Buffer.from(style()))
  for (const { fileName, code } of await chunksOf('src/page/start/app.ts', 'es'))
    files.set(fileName, Buffer.from(versioned(code)))
  files.set('code.js', Buffer.from(await script('src/page/enrollment/code.ts', 'es')))
  // The page begins with the English manifest.
  const manifest = JSON.parse(files.get('manifest.webmanifest'))
  const manifests = new Map()
  const title = numberedKeys().indexOf('common.title')
  for (const language of languages) {
    const texts = packLanguage(language)
    files.set(`${language}.json`, Buffer.from(JSON.stringify(texts)))
    if (language === 'en') continue
    const name = texts[0][title]
    const named = { ...manifest, lang: language, name, short_name: name }
    manifests.set(`${language}.webmanifest`, Buffer.from(JSON.stringify(named)))
  }

  // A version of all files together. The page asks for the files of its own version, so that the worker never mixes two.
  const whole = sha256('')
  for (const [name, data] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) whole.update(name).update(data)
  const version = whole.digest('base64url').slice(0, 12)
  for (const name of ['index.html', 'app.js', 'further.js'])
    files.set(name, Buffer.from(files.get(name).toString().replaceAll('PAGE_VERSION', version)))

  // The worker keeps no icon that only an installation needs.
  const kept = [...files].filter(([name]) => name !== 'icon-512.png')
  const hashes = Object.fromEntries(
    kept.map(([name, data]) => [name, `sha256-${sha256(data).digest('base64')}`]),
  )
  const define = { SHELL: JSON.stringify({ version, hashes }) }
  files.set('sw.js', Buffer.from(await script('src/page/worker/sw.ts', 'iife', define)))

  // A browser reads them when the page is installed, which needs the network anyway: the worker keeps none.
  for (const [name, data] of manifests) files.set(name, data)

  const packed = [...files].map(([name, data]) => ({ name: `${name}.br`, data, less: brotli(data) }))
  for (const { name, data, less } of packed) if (less.length < data.length * 0.9) files.set(name, less)
  return files
}

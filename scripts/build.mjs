import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

// One small entry and a chunk a command group, as CommonJS: Node starts that fastest. Native and wasm packages, and
// the server's dependencies, stay outside and are loaded from node_modules when a command needs them.
const root = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))

/** `conf` brings a JSON-schema validator, most of what it weighs. We give it no schema, so it never calls it. */
const withoutAjv = {
  name: 'without-ajv',
  resolveId: (id, importer) =>
    /^ajv(-formats)?(\/|$)/.test(id) && importer?.includes('/node_modules/conf/') ? '\0no-ajv' : undefined,
  load: (id) => (id === '\0no-ajv' ? 'export const Ajv2020 = undefined; export default {}' : undefined),
}

rmSync(root('dist'), { recursive: true, force: true })
const bundle = await rolldown({
  input: { main: root('src/main.ts') },
  platform: 'node',
  external: [/^node:/, 'libsql', 'jq-wasm'],
  plugins: [withoutAjv],
})
await bundle.write({
  dir: root('dist'),
  format: 'cjs',
  minify: true,
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name]-[hash].cjs',
})
await bundle.close()

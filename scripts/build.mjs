import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { lazyChildProcess, rareUndici, withoutAjv, withoutSignalListeners } from './bundle-stubs.mjs'
import { bundled, inProgram } from './bundled.mjs'
import { recordCompiled } from './record-compiled.mjs'
import { contractManifest, schemas } from './contract-manifest.mjs'
import { libraryFiles } from './library.mjs'
import { pageFiles } from './page.mjs'

// One small entry and a chunk a command group, as CommonJS: Node starts that fastest. Native and wasm packages, and
// the server's dependencies, stay outside and are loaded from node_modules when a command needs them.
const root = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))

// Two builds of one version are told apart by their commit. A folder inside of another repository has none of its own.
const commitOf = () => {
  if (process.env.SVC_COMMIT || !existsSync(root('.git'))) return process.env.SVC_COMMIT
  const describe = ['describe', '--always', '--dirty', '--abbrev=8', '--exclude=*']
  try {
    return execFileSync('git', describe, { cwd: root(''), encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    // Git is not installed, or does not trust the owner of the folder.
    return undefined
  }
}
const commit = commitOf()
if (commit && !/^[\w.-]{1,40}$/.test(commit)) throw new Error(`SVC_COMMIT is not a commit: "${commit}"`)
const bundle = await rolldown({
  input: { main: root('src/main.ts'), schemas },
  platform: 'node',
  external: ['libsql', 'jq-wasm'],
  transform: { define: { SVC_COMMIT: JSON.stringify(commit ?? '') } },
  // Its other build loads its parts at run time.
  resolve: { alias: { 'jsonc-parser': root('node_modules/jsonc-parser/lib/esm/main.js') } },
  plugins: [withoutAjv, withoutSignalListeners, rareUndici, lazyChildProcess, contractManifest, inProgram],
})
const { output } = await bundle.generate({
  format: 'cjs',
  // Everything outside is CommonJS: a real `import()` would start the loader of ES modules for nothing.
  dynamicImportInCjs: false,
  minify: true,
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name]-[hash].cjs',
})
await bundle.close()

const page = await pageFiles()
const library = await libraryFiles()

// Only a build that went well replaces the one before.
rmSync(root('dist'), { recursive: true, force: true })
mkdirSync(root('dist'))
for (const { fileName, code, source } of output) writeFileSync(join(root('dist'), fileName), code ?? source)
mkdirSync(root('dist/library'))
for (const [name, text] of Object.entries(library.files)) writeFileSync(root(`dist/library/${name}`), text)
mkdirSync(root('dist/page'))
for (const [name, data] of page) writeFileSync(root(`dist/page/${name}`), data)
writeFileSync(root('dist/bundled.json'), JSON.stringify(bundled()))
cpSync(root('docs/svc.sample.yaml'), root('dist/svc.sample.yaml'))

// The whole tree as data, so that help needs no command tree: the root without what is in its groups, then each group.
const tree = JSON.parse(
  execFileSync(process.execPath, [root('bin/svc.js'), 'commands'], { encoding: 'utf8' }),
)
const outline = { ...tree, commands: tree.commands.map((group) => ({ ...group, flags: [], commands: [] })) }
writeFileSync(
  root('dist/help.ndjson'),
  [outline, ...tree.commands].map((node) => `${JSON.stringify(node)}\n`).join(''),
)
await recordCompiled(root('dist/compiled.bin'))

import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { inLibrary } from './bundled.mjs'
import { contractManifest, schemas } from './contract-manifest.mjs'
import { libraryTypes } from './library-types.mjs'

const root = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))

const build = async () => {
  const bundle = await rolldown({
    input: { svc: root('src/library/svc.ts'), schemas },
    platform: 'node',
    plugins: [contractManifest, inLibrary],
  })
  const { output } = await bundle.generate({
    format: 'cjs',
    dynamicImportInCjs: false,
    // Node prints the line of source that threw an uncaught error, so a line must be short, and the names of classes.
    minify: {
      compress: true,
      mangle: { keepNames: { class: true, function: false } },
      codegen: { removeWhitespace: false },
    },
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
  })
  await bundle.close()
  return output
}

/**
 * The files of the library. A module that is imported re-exports the one that is required, so that a program that does both
 * has one class of errors.
 */
export const libraryFiles = async () => {
  const output = await build()
  const { exports } = output.find(({ fileName }) => fileName === 'svc.cjs')
  const types = await libraryTypes()
  return {
    files: {
      ...Object.fromEntries(output.map(({ fileName, code }) => [fileName, code])),
      'svc.mjs': `import library from './svc.cjs'\nexport const { ${exports.join(', ')} } = library\n`,
      'svc.d.cts': types,
      'svc.d.mts': `export * from './svc.cjs'\n`,
    },
    /** The modules in each chunk, by paths from the root of the project. */
    modules: Object.fromEntries(
      output.map(({ fileName, moduleIds = [] }) => [
        fileName,
        moduleIds.map((id) => id.replace(root(''), '')),
      ]),
    ),
  }
}

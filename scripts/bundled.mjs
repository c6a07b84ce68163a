import { fileURLToPath } from 'node:url'

// Which packages of others are in what the build makes. Their licences want to be named, and a bill of materials too.

const root = fileURLToPath(new URL('..', import.meta.url))

/** What the program loads from `node_modules`: native code, wasm, and rarely needed parts of undici. */
export const installed = ['jq-wasm', 'libsql', 'undici']

const found = { program: new Set(), library: new Set() }

const recorded = (name) => ({
  name: 'bundled-packages',
  generateBundle: (_, output) => {
    for (const { moduleIds = [] } of Object.values(output))
      for (const id of moduleIds) {
        const [place] = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replace(root, '')) ?? []
        if (place) found[name].add(place)
      }
  },
})
export const inProgram = recorded('program')
export const inLibrary = recorded('library')

/** The packages in the program, with its page, and in the library, by their places in the lockfile. */
export const bundled = () =>
  Object.fromEntries(Object.entries(found).map(([name, places]) => [name, [...places].sort()]))

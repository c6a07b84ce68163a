import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))

// The command line needs of the table what can be written down: words, flags, columns. The build writes it down, so that
// a command starts without a validator; `input` and `data` are built when something is really checked.
const groups = ['org', 'user', 'geofence', 'timeslot', 'key', 'audit']
const load = (name) => `export * as ${name} from ${JSON.stringify(root(`src/contract/${name}.ts`))}`

/** Each group of the table as plain data: `{ org: { listOrganizations: {...} } }`. */
const writeDown = async () => {
  const bundle = await rolldown({
    input: 'outlines',
    plugins: [
      {
        name: 'outlines',
        resolveId: (id) => (id === 'outlines' ? '\0outlines' : undefined),
        load: (id) => (id === '\0outlines' ? [...groups, 'describe'].map(load).join('\n') : undefined),
      },
    ],
  })
  const { output } = await bundle.generate({ format: 'esm' })
  await bundle.close()
  const { describe, ...tables } = await import(`data:text/javascript,${encodeURIComponent(output[0].code)}`)
  return Object.fromEntries(
    groups.map((name) => [
      name,
      Object.fromEntries(
        Object.entries(tables[name][name]).map(([id, operation]) => [
          id,
          { ...operation, input: undefined, data: undefined, outline: describe.outlineOf(operation) },
        ]),
      ),
    ]),
  )
}
const outlines = await writeDown()

export const outlined = {
  name: 'outlined',
  resolveId: (id, importer) => {
    const [, name] = /\/contract\/([a-z]+)\.ts$/.exec(id) ?? []
    if (groups.includes(name) && importer?.startsWith(root('src/cli/'))) return `\0outline:${name}`
    // `describe.ts` asks for the meta of a schema only where there is no outline.
    if (id === './field.ts' && importer === root('src/contract/describe.ts')) return '\0meta'
    return undefined
  },
  load: (id) => {
    if (id === '\0meta')
      return `export const metaOf = (schema) => require(${JSON.stringify(root('src/contract/field.ts'))}).metaOf(schema)`
    if (!id.startsWith('\0outline:')) return undefined
    const name = id.slice('\0outline:'.length)
    return `const schemas = (id) => require(${JSON.stringify(root(`src/contract/${name}.ts`))}).${name}[id]
      export const ${name} = ${JSON.stringify(outlines[name])}
      for (const [id, operation] of Object.entries(${name}))
        Object.defineProperties(operation, {
          input: { get: () => schemas(id).input },
          data: { get: () => schemas(id).data },
        })`
  },
}

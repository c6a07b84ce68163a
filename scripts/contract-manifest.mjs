import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))

// The command line and the library need of the table what can be written down: words, flags, columns. The build writes it down, so that
// both start without a validator; `input` and `data` are built when something is really checked.
const files = readdirSync(root('src/contract'))
  .map((file) => file.replace(/\.ts$/, ''))
  .filter((name) => /^[a-z-]+$/.test(name))
/** What the file of a group exports: `auth-code.ts` exports `authCode`. */
const exported = (file) => file.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase())
const load = (name) => `export * as ${exported(name)} from ${JSON.stringify(root(`src/contract/${name}.ts`))}`

/** Each group of the table as plain data: `{ org: { listOrganizations: {...} } }`. */
const writeDown = async () => {
  const bundle = await rolldown({
    input: 'outlines',
    plugins: [
      {
        name: 'outlines',
        resolveId: (id) => (id === 'outlines' ? '\0outlines' : undefined),
        load: (id) => (id === '\0outlines' ? files.map(load).join('\n') : undefined),
      },
    ],
  })
  const { output } = await bundle.generate({ format: 'esm' })
  await bundle.close()
  const contract = await import(`data:text/javascript,${encodeURIComponent(output[0].code)}`)
  const { table } = contract.table
  const outlined = ([id, operation]) => [
    id,
    { ...operation, input: undefined, data: undefined, outline: contract.describe.outlineOf(operation) },
  ]
  // A group is a file that exports operations under its own name, in camel case.
  return Object.fromEntries(
    files
      .map(exported)
      .map((name) => [name, Object.entries(contract[name][name] ?? {})])
      .filter(([, operations]) => operations.length > 0 && operations.every(([id]) => id in table))
      .map(([name, operations]) => [name, Object.fromEntries(operations.map(outlined))]),
  )
}
const outlines = await writeDown()

/** Method and path of each operation that needs no key, for the page. */
export const pageRoutes = Object.fromEntries(
  Object.entries(outlines.table).flatMap(([id, { method, path, session, open }]) =>
    session || open ? [[id, [method, path]]] : [],
  ),
)

/** What has a validator in it, as an entry of its own: a second file, read when it is first asked for. */
export const schemas = '\0schemas'
const laterSchemas = `require('./schemas.cjs')`

export const contractManifest = {
  name: 'contract-manifest',
  resolveId: (id, importer) => {
    if (id === schemas) return id
    if (id === './schemas.cjs') return { id, external: true }
    const [, file = ''] = /\/contract\/([a-z-]+)\.ts$/.exec(id) ?? []
    const name = exported(file)
    const wantsOutline = importer?.startsWith(root('src/cli/')) || importer?.startsWith(root('src/library/'))
    if (name in outlines && wantsOutline) return `\0outline:${name}`
    // `describe.ts` asks for the meta of a schema only where there is no outline.
    if (id === './field.ts' && importer === root('src/contract/describe.ts')) return '\0meta'
    return undefined
  },
  load: (id) => {
    if (id === root('src/library/operation-ids.ts')) {
      const ids = Object.entries(outlines.table).flatMap(([name, { session }]) => (session ? [] : [name]))
      return `export const operationIds = ${JSON.stringify(ids)}`
    }
    if (id === schemas)
      return `export { table } from ${JSON.stringify(root('src/contract/table.ts'))}
        export { metaOf } from ${JSON.stringify(root('src/contract/field.ts'))}`
    if (id === '\0meta') return `export const metaOf = (schema) => ${laterSchemas}.metaOf(schema)`
    if (!id.startsWith('\0outline:')) return undefined
    const name = id.slice('\0outline:'.length)
    return `export const ${name} = ${JSON.stringify(outlines[name])}
      for (const [id, operation] of Object.entries(${name}))
        Object.defineProperties(operation, {
          input: { get: () => ${laterSchemas}.table[id].input },
          data: { get: () => ${laterSchemas}.table[id].data },
        })`
  },
}

import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { isolatedDeclarationSync } from 'rolldown/experimental'
import { parseAst } from 'rolldown/parseAst'
import { operationMethod, schemaType } from './schema-type.mjs'

// The types of the library as one file: the declarations that rolldown makes of our sources, followed from what the library
// exports, and in place of types that derive from the contract table, the same types written out.

const root = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))

/** What the types that derive from schemas are made of. */
const loadSchemas = async () => {
  const from = {
    table: 'contract/table',
    jsonSchema: 'contract/json-schema',
    neededScope: 'contract/scopes',
    exits: 'core/exit-codes',
  }
  const lines = Object.entries(from).map(
    ([name, file]) => `export { ${name} } from ${JSON.stringify(root(`src/${file}.ts`))}`,
  )
  lines.push(
    `export { claimsShape } from ${JSON.stringify(root('src/receipt/claims.ts'))}`,
    `export { completionShape } from ${JSON.stringify(root('src/receipt/set.ts'))}`,
    `export { useShape } from ${JSON.stringify(root('src/receipt/grant-use.ts'))}`,
  )
  const bundle = await rolldown({
    input: 'schemas',
    platform: 'node',
    plugins: [
      {
        name: 'schemas',
        resolveId: (id) => (id === 'schemas' ? '\0schemas' : undefined),
        load: (id) => (id === '\0schemas' ? lines.join('\n') : undefined),
      },
    ],
  })
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false })
  await bundle.close()
  return import(`data:text/javascript,${encodeURIComponent(output[0].code)}`)
}

const scopeText = (needed, { operator }) => {
  if (operator) return 'Requires an operator key. '
  if (needed === undefined) return ''
  return needed === 'any' ? 'Any key. ' : `Scope: ${needed}. `
}

const writtenOut = async () => {
  const { table, jsonSchema, neededScope, exits, claimsShape, completionShape, useShape } =
    await loadSchemas()
  const methods = Object.entries(table)
    .filter(([, { session }]) => !session)
    .map(([id, operation]) =>
      operationMethod(id, {
        summary: operation.summary,
        scope: scopeText(neededScope(operation), operation),
        command: operation.hidden ? '' : `Command: \`svc ${operation.cli}\`.`,
        input: jsonSchema(operation.input),
        data: operation.data && jsonSchema(operation.data),
      }),
    )
  return {
    'src/library/calls.ts': {
      Operations: {
        text: `/** The operations by their ids, as in \`/openapi.json\`. */\nexport interface Operations {\n  ${methods.map((text) => text.replaceAll('\n', '\n  ')).join('\n  ')}\n}`,
        uses: { CallOptions: 'src/library/options.ts' },
      },
    },
    'src/receipt/claims.ts': {
      ReceiptClaims: {
        text: `/** What a receipt states and proves. */\nexport type ReceiptClaims = ${schemaType(jsonSchema(claimsShape))}`,
      },
    },
    'src/receipt/set.ts': {
      CompletionClaims: {
        text: `/** What the service states at the end of a request of several people. */\nexport type CompletionClaims = ${schemaType(jsonSchema(completionShape))}`,
      },
    },
    'src/receipt/grant-use.ts': {
      UseClaims: {
        text: `/** What the service states of a call that nobody saw, because somebody had allowed it again. */\nexport type UseClaims = ${schemaType(jsonSchema(useShape))}`,
      },
    },
    'src/core/exit-codes.ts': {
      Exit: {
        text: `/** Why it failed; \`svc help exit-codes\` lists the number of each. */\nexport type Exit = ${Object.keys(
          exits,
        )
          .map((name) => JSON.stringify(name))
          .join(' | ')}`,
      },
    },
  }
}

const nodesIn = function* (node) {
  if (typeof node?.type === 'string') yield node
  for (const value of Object.values(node ?? {}).flat())
    if (typeof value === 'object' && value !== null && value.type) yield* nodesIn(value)
}

/** The declarations of a source file, and where its imports come from. */
const readDeclarations = (file) => {
  // Values whose type is inferred are reported as errors, and come out as `unknown`. The library exports none of them.
  const { code } = isolatedDeclarationSync(file, readFileSync(root(file), 'utf8'))
  const declarations = new Map()
  const imports = new Map()
  let end = 0
  for (const statement of parseAst(code, { lang: 'ts' }, file).body) {
    const source = statement.source && posix.join(posix.dirname(file), statement.source.value)
    const text = code.slice(end, statement.end).trim()
    end = statement.end
    for (const { local, imported, exported } of statement.specifiers ?? [])
      if (source) imports.set((exported ?? local).name, { file: source, name: (imported ?? local).name })
    const declared = statement.declaration ?? statement
    const names = declared.declarations?.map(({ id }) => id.name) ?? (declared.id ? [declared.id.name] : [])
    const uses = [...nodesIn(declared)].filter(({ type }) => type === 'Identifier').map(({ name }) => name)
    for (const name of names) declarations.set(name, { text, uses })
  }
  return { declarations, imports }
}

/** The declaration file of the library. */
export const libraryTypes = async () => {
  const generated = await writtenOut()
  const files = new Map()
  const taken = new Map()
  const texts = []
  const take = (file, name) => {
    if (!files.has(file)) files.set(file, readDeclarations(file))
    const { declarations, imports } = files.get(file)
    const imported = imports.get(name)
    if (imported) return take(imported.file, imported.name)
    const own = generated[file]?.[name] ?? declarations.get(name)
    if (!own) return undefined
    if (taken.has(name) && taken.get(name) !== file) throw new Error(`Two declarations of ${name}`)
    if (taken.has(name)) return undefined
    if (/^(?:export )?declare const \w+(?:: unknown)?;?$/m.test(own.text))
      throw new Error(`${name} in ${file} needs an explicit type`)
    taken.set(name, file)
    for (const use of Array.isArray(own.uses) ? own.uses : []) if (use !== name) take(file, use)
    for (const [use, from] of Object.entries(Array.isArray(own.uses) ? {} : (own.uses ?? {}))) take(from, use)
    texts.push({ name, text: own.text })
    return undefined
  }
  const entry = 'src/library/svc.ts'
  const exported = [...readDeclarations(entry).imports.keys()]
  for (const name of exported) take(entry, name)
  const json = 'type Json = string | number | boolean | null | Json[] | { [name: string]: Json }'
  const types = texts.map(({ name, text }) => {
    const plain = text.replace(/^export /m, '')
    return exported.includes(name) ? plain.replace(/^(?=(?:declare|type|interface) )/m, 'export ') : plain
  })
  return `${[...types, json, 'export {}'].join('\n\n')}\n`
}

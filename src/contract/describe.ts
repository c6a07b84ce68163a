import { type FieldMeta, metaOf } from './field.ts'
import { orgFields, type Field, type FieldKind, type Operation, type Outline } from './operation.ts'
import { pathNames } from './path.ts'
import { coreOf, fieldSchemas, partsOf, type SchemaParts, type Schema, type Shape } from './schema.ts'

// The table as plain data, for flags, prompts, help, completions and docs.

const kindOf = (def: SchemaParts): { kind: FieldKind; choices: string[] } => {
  if (def.type === 'enum') return { kind: 'enum', choices: Object.values(def.entries!) }
  if (def.type === 'union')
    return { kind: 'integer', choices: def.options!.map((option) => String(coreOf(option).values![0])) }
  if (def.type === 'array') {
    const element = coreOf(def.element!)
    return element.type === 'object'
      ? { kind: 'json', choices: [] }
      : { kind: 'list', choices: kindOf(element).choices }
  }
  if (def.type === 'number') return { kind: def.format === 'safeint' ? 'integer' : 'number', choices: [] }
  if (def.type === 'boolean') return { kind: 'boolean', choices: [] }
  return { kind: def.type === 'object' || def.type === 'record' ? 'json' : 'string', choices: [] }
}

/** `authCodeId` and `auth_code_id` are both typed as `auth-code-id`. */
const hyphened = (name: string): string =>
  name
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase()

const flagOf = (name: string, meta: FieldMeta): string => {
  if (meta.flag) return meta.flag
  if (orgFields.includes(name)) return 'org'
  const words = hyphened(name)
  return words === 'user-id' ? 'user' : words + (meta.secret ? '-file' : '')
}

/** The name of a field that is a positional argument: `user-id`. */
export const argumentName = ({ name, flag }: Pick<Field, 'name' | 'flag'>): string =>
  flag === 'user' ? hyphened(name) : flag

const fieldsIn = (shape: Shape, above: string[]): Field[] =>
  Object.entries(shape).flatMap(([name, schema]): Field[] => {
    const def = coreOf(schema)
    const path = [...above, name]
    const meta = metaOf(schema)
    if (def.type === 'object' && !meta?.whole) return fieldsIn(def.shape!, path)
    if (!meta) throw new Error(`The field ${path.join('.')} is neither shown nor chosen`)
    const required = partsOf(schema).type !== 'optional' || meta.unless !== undefined
    return [{ name, path, flag: flagOf(name, meta), required, meta, ...kindOf(def) }]
  })

const described = new WeakMap<Schema, Field[]>()

/** The input of an operation, field by field; an object in it (a policy) becomes one field per key. */
export const fieldsOf = (operation: Pick<Operation, 'input' | 'outline'>): Field[] => {
  if (operation.outline) return operation.outline.fields
  // Only now: in the built command line, reading `input` loads the validator.
  const { input } = operation
  const fields = described.get(input) ?? fieldsIn(fieldSchemas(input), [])
  described.set(input, fields)
  return fields
}

/** The schema of one field of the input. */
export const schemaOf = ({ input }: Pick<Operation, 'input'>, { path }: Field): Schema =>
  path.reduce<Schema>((schema, name) => fieldSchemas(schema)[name]!, input)

/** Names of the input fields that are positional arguments, in order. */
export const argsOf = (operation: Operation): readonly string[] =>
  operation.args ??
  pathNames(operation.path).filter((name) => !orgFields.includes(name) && name !== operation.select)

/** Names of the fields of a schema, at any depth, that are marked as personal or secret. */
export const fieldsWith = (schema: Schema, flag: 'personal' | 'secret'): Set<string> => {
  const names = new Set<string>()
  const walk = (type: Schema): void => {
    const { shape = {}, element } = coreOf(type)
    for (const [name, field] of Object.entries(shape)) {
      if (metaOf(field)?.[flag]) names.add(name)
      walk(field)
    }
    if (element) walk(element)
  }
  walk(schema)
  return names
}

/** Names of the fields of an operation's data that are marked as personal or secret. */
export const answerFieldsWith = (operation: Operation, flag: 'personal' | 'secret'): Set<string> => {
  if (operation.outline) return new Set(operation.outline[flag])
  return operation.data ? fieldsWith(operation.data, flag) : new Set()
}

/** Names of the top-level fields of an operation's data. */
export const answeredFields = (operation: Operation): string[] => {
  if (operation.outline) return operation.outline.answered
  const { data } = operation
  return Object.keys(fieldSchemas((data && coreOf(data).element) ?? data))
}

/** Everything that this file derives from an operation, as plain data. */
export const outlineOf = (operation: Operation): Outline => ({
  fields: fieldsOf(operation),
  personal: [...answerFieldsWith(operation, 'personal')],
  secret: [...answerFieldsWith(operation, 'secret')],
  answered: answeredFields(operation),
})

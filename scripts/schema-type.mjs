// TypeScript types from the JSON Schemas that OpenAPI has too, with the description of each field.

const isName = /^[A-Za-z_$][\w$]*$/
const indent = (text) => text.replaceAll('\n', '\n  ')
const comment = (text) => (text ? `/** ${text.replaceAll('*/', '*\\/')} */\n` : '')
const literal = (value) => JSON.stringify(value)
const union = (types) => [...new Set(types)].join(' | ')
const grouped = (type) => (/[|&]/.test(type.replaceAll(/\{[^]*\}/g, '')) ? `(${type})` : type)

const objectType = ({ properties = {}, required = [], additionalProperties, propertyNames }, definitions) => {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const key = isName.test(name) ? name : literal(name)
    const type = typeOf(schema, definitions)
    // Both ways to leave a field out, also for programs with `exactOptionalPropertyTypes`.
    const typed = required.includes(name) ? `: ${type}` : `?: ${type} | undefined`
    return `${comment(schema.description)}${key}${typed}`
  })
  // A map. A type with named fields has no others, although an answer can: a field that is misspelled must not compile.
  const isMap = fields.length === 0 && additionalProperties && Object.keys(additionalProperties).length > 0
  if (isMap && propertyNames) return `Record<string, ${typeOf(additionalProperties, definitions)}>`
  if (additionalProperties && fields.length === 0) fields.push('[field: string]: unknown')
  return fields.length === 0 ? 'Record<string, never>' : `{\n  ${fields.map(indent).join('\n  ')}\n}`
}

/** The type of a schema. Throws for what it cannot express, so that no field becomes `any` unnoticed. */
const typeOf = (schema, definitions) => {
  if (schema.$ref) {
    const name = schema.$ref.replace('#/$defs/', '')
    const found = definitions[name]
    // The only recursive schema is any JSON value.
    if (found?.anyOf?.some(({ type }) => type === 'array')) return 'Json'
    return typeOf(found, definitions)
  }
  if ('const' in schema) return literal(schema.const)
  if (schema.enum) return union(schema.enum.map(literal))
  const options =
    schema.anyOf ??
    schema.oneOf ??
    (Array.isArray(schema.type) ? schema.type.map((type) => ({ ...schema, type })) : undefined)
  if (options) return union(options.map((one) => typeOf(one, definitions)))
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `${grouped(typeOf(schema.items, definitions))}[]`
    case 'object':
      return objectType(schema, definitions)
  }
  if (Object.keys(schema).every((name) => ['description', 'x-spec', 'examples'].includes(name)))
    return 'unknown'
  throw new Error(`No TypeScript type for ${JSON.stringify(schema)}`)
}

/** The TypeScript type of a JSON Schema. */
export const schemaType = (schema) => typeOf(schema, schema.$defs ?? {})

/** One operation as a method of the interface. */
export const operationMethod = (id, { summary, scope, input, data, command }) => {
  const given = schemaType(input)
  const isOptional = (input.required ?? []).length === 0
  const answer = data ? schemaType(data) : 'undefined'
  return `/** ${summary}. ${scope}${command} */\n${id}(input${isOptional ? '?' : ''}: ${given}, options?: CallOptions): Promise<${answer}>`
}

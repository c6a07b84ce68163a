import * as z from 'zod/mini'
import { fieldMeta } from './field.ts'

/** JSON Schema of a zod schema with the meta of each field. `x-spec` is `shown` or `chosen`. */
export const jsonSchema = (
  schema: z.core.$ZodType,
  target: 'draft-2020-12' | 'draft-7' = 'draft-2020-12',
): Record<string, unknown> => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    target,
    metadata: fieldMeta,
    override: ({ jsonSchema: json }) => {
      if (json.source) json['x-spec'] = json.source
      if (json.secret) json.format = 'password'
      for (const name of ['source', 'secret', 'personal', 'flag']) delete json[name]
      const constants = json.anyOf?.map((one) => (one as { const?: unknown }).const)
      if (constants?.every(Number.isInteger)) {
        delete json.anyOf
        Object.assign(json, { type: 'integer', enum: constants })
      }
    },
  })
  return rest
}

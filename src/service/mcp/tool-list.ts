import * as z from 'zod/mini'
import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import { fieldMeta } from '../../contract/field.ts'
import { tools, type Tool } from '../../contract/tools.ts'

/**
 * JSON Schema 2020-12, which is MCP's default, as an agent reads it: types, limits and descriptions. Each session of an
 * agent pays for each word, and strict clients warn of keywords that say nothing.
 */
const jsonSchema = (schema: z.ZodMiniType, io: 'input' | 'output'): { type: 'object' } => {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    metadata: fieldMeta,
    override: ({ jsonSchema: json }) => {
      for (const name of ['source', 'secret', 'personal', 'examples']) delete json[name]
      for (const name of ['additionalProperties', 'properties'] as const) {
        const value = json[name]
        if (typeof value === 'object' && Object.keys(value).length === 0) delete json[name]
      }
    },
  })
  return json as { type: 'object' }
}

const listed = ([name, tool]: [string, Tool]): ListedTool => ({
  name,
  title: tool.title,
  description: tool.description,
  inputSchema: jsonSchema(tool.input, 'input'),
  outputSchema: jsonSchema(tool.output, 'output'),
  annotations: {
    readOnlyHint: tool.reads,
    destructiveHint: false,
    idempotentHint: tool.reads,
    openWorldHint: true,
  },
})

/** What `tools/list` answers, made once. */
export const toolList: ListedTool[] = Object.entries(tools).map(listed)

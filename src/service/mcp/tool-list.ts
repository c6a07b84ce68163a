import * as z from 'zod/mini'
import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import { fieldMeta } from '../../contract/field.ts'
import { tools, type Tool } from '../../contract/tools.ts'

/** JSON Schema 2020-12 as an agent reads it: types, limits and descriptions, and nothing of ours. */
const jsonSchema = (schema: z.ZodMiniType, io: 'input' | 'output'): { type: 'object' } =>
  z.toJSONSchema(schema, {
    io,
    metadata: fieldMeta,
    override: ({ jsonSchema: json }) => {
      for (const name of ['source', 'secret', 'personal']) delete json[name]
    },
  }) as { type: 'object' }

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

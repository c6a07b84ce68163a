import {
  type CallToolResult,
  type jsonSchemaValidator,
  type Tool as ListedTool,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod/mini'
import { fieldMeta } from '../../contract/field.ts'
import { issuesOf } from '../../contract/issues.ts'
import { instructions, type Tool, type ToolName, tools } from '../../contract/tools.ts'
import { SvcError } from '../../core/errors.ts'
import { isRecord } from '../../core/is-record.ts'
import { parseJson } from '../../core/parse-json.ts'
import { invalidFields, Refusal } from '../../core/refusal.ts'
import { explain } from './advice.ts'
import { clientName, type Introduction } from './client-name.ts'
import { checkStatus, requestApproval, requestApprovalAsync } from './tool-calls.ts'
import type { Conversation, Run, ToolContext } from './tool-context.ts'

/**
 * JSON Schema 2020-12, the default of MCP, with types, limits and descriptions only: agents pay for each word, and strict
 * clients warn about keywords without meaning.
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

const describeTool = ([name, tool]: [string, Tool]): ListedTool => ({
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

export const disconnected = 'the client disconnected'

type Ending = Pick<Conversation, 'signal' | 'endReason'>

/** The client of the tools, and how to report what failed. */
export type Session = {
  toolContext: ToolContext
  /** What the client claimed in an earlier request, if each request has its own server. */
  introduction?: Introduction
  /** Begins a call whose transport does not notice that it is abandoned. */
  begin?(id: string | number): Ending & { done(): void }
  report(error: Error): void
}

const runs: Record<ToolName, Run<never, Record<string, unknown>>> = {
  request_approval: requestApproval,
  request_approval_async: requestApprovalAsync,
  check_status: checkStatus,
}

const info = { name: 'svc', title: 'Approvals by a person', version: '1.0.0' }

// Created once, not for each server object. The validator is for elicitation, which svc does not use.
const noValidator: jsonSchemaValidator = {
  getValidator: () => () => ({ valid: false, data: undefined, errorMessage: 'not used' }),
}
const hour = 3_600_000
const options = {
  capabilities: { tools: {} },
  instructions,
  jsonSchemaValidator: noValidator,
  cacheHints: {
    'tools/list': { ttlMs: hour, cacheScope: 'public' },
    'server/discover': { ttlMs: hour, cacheScope: 'public' },
  },
} as const
const listed = { tools: Object.entries(tools).map(describeTool) }

const failed = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true })

// The first revision with `structuredContent`.
const structuredSince = '2025-06-18'

const textOf = (value: object): CallToolResult['content'] => [{ type: 'text', text: JSON.stringify(value) }]

/**
 * The result of a tool call. The receipt is for programs, so only `structuredContent` contains it if there is one: a model
 * reads, and pays for, each word of the text.
 */
const toResult = (output: Record<string, unknown>, version = structuredSince): CallToolResult => {
  if (version < structuredSince) return { content: textOf(output) }
  const { attestation: _, ...short } = output
  return { content: textOf(short), structuredContent: output }
}

const answer = async (
  name: ToolName,
  args: unknown,
  session: Session,
  { mcpReq }: ServerContext,
  { version, client }: Introduction,
): Promise<CallToolResult> => {
  const begun = tools[name].reads ? undefined : session.begin?.(mcpReq.id)
  // A client of 2026-07-28 cancels a call by closing its stream.
  const { signal, endReason } = begun ?? { signal: mcpReq.signal, endReason: () => disconnected }
  const progressToken = mcpReq._meta?.progressToken
  const conversation: Conversation = {
    signal,
    endReason,
    ...(client !== undefined && { client }),
    ...(progressToken !== undefined && {
      reportProgress: (message, progress, total) =>
        mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, message, progress, total },
        }),
    }),
  }
  try {
    const { input }: Tool = tools[name]
    const given = withoutNulls(args)
    const checked = input.safeParse(given)
    if (!checked.success) throw invalidFields(issuesOf(checked.error, input, given))
    return toResult(await runs[name](checked.data as never, session.toolContext, conversation), version)
  } catch (error) {
    const expected = error instanceof Refusal || error instanceof SvcError
    if (!expected) session.report(error as Error)
    const text = expected
      ? explain(error)
      : 'Something went wrong inside the service. This is not an approval.'
    return failed([text, session.toolContext.gateway.notice].filter(Boolean).join(' '))
  } finally {
    begun?.done()
  }
}

/** Clients send null for a field that their model left empty. */
const withoutNulls = (args: unknown): unknown =>
  isRecord(args) ? Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null)) : args

const isTool = (name: string): name is ToolName => Object.hasOwn(tools, name)

type Handle = Parameters<Server['_wrapHandler']>[1]

/** The issues that the validator of the SDK throws as JSON inside of an error message. */
const readIssues = (message: string): z.core.$ZodIssue[] | undefined => {
  const start = message.indexOf('[\n')
  return start === -1 ? undefined : (parseJson(message.slice(start)) as z.core.$ZodIssue[] | undefined)
}

const invalidParams = (method: string, request: unknown, issues: z.core.$ZodIssue[]): ProtocolError => {
  const found = issuesOf({ issues } as z.core.$ZodError, z.unknown(), request)
  const words = found.map(({ field, message }) => `${field} ${message}`).join('; ')
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid ${method} request: ${words}`)
}

/** Reports invalid params in words. The SDK answers with an internal error or a dump of its validator. */
class ProtocolServer extends Server {
  protected override _wrapHandler(method: string, handler: Handle): Handle {
    const handle = super._wrapHandler(method, handler)
    return async (request, context: ServerContext) => {
      try {
        return await handle(request, context)
      } catch (error) {
        const found = error instanceof Error ? readIssues(error.message) : undefined
        throw found ? invalidParams(method, request, found) : error
      }
    }
  }
}

/**
 * A server with the three tools, for one connection or one request, over HTTP and stdio. `running` contains the running
 * calls, so that the end can wait for what they withdraw.
 */
export const createToolServer = (session: Session, running: Set<Promise<unknown>>): Server => {
  const server = new ProtocolServer(info, options)
  server.setRequestHandler('tools/list', () => listed)
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { name } = params
    if (!isTool(name))
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `Unknown tool: ${name.slice(0, 80)}. The tools are ${Object.keys(tools).join(', ')}`,
      )
    const { introduction: before } = session
    const introduction: Introduction = {
      version: server.getNegotiatedProtocolVersion() ?? before?.version,
      // The client is named only in a request to a person.
      ...(tools[name].reads ? {} : { client: clientName(server.getClientVersion()) ?? before?.client }),
    }
    const answering = answer(name, params.arguments ?? {}, session, context, introduction)
    running.add(answering)
    try {
      return await answering
    } finally {
      running.delete(answering)
    }
  })
  return server
}

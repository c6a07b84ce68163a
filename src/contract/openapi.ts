import * as z from 'zod/mini'
import { sessionCookie } from './page-session.ts'
import { jsonSchema } from './json-schema.ts'
import type { Operation } from './operation.ts'
import { pathNames } from './path.ts'
import { neededScope } from './scopes.ts'
import { table } from './table.ts'

type Json = Record<string, unknown>
type ObjectSchema = { properties: Record<string, Json>; required?: string[]; [keyword: string]: unknown }

const ref = (kind: string, name: string): Json => ({ $ref: `#/components/${kind}/${name}` })
const json = (schema: Json): Json => ({ 'application/json': { schema } })

const parameter = (place: 'path' | 'query', name: string, schema: Json, required: boolean): Json => {
  const { description, 'x-spec': spec, ...rest } = schema
  return {
    name,
    in: place,
    required: place === 'path' || required,
    description,
    'x-spec': spec,
    schema: rest,
  }
}

const successEnvelope = (operation: Operation): Json => ({
  type: 'object',
  properties: {
    status: { const: 'success' },
    message: { type: 'string', examples: [operation.message] },
    ...(operation.data && { data: jsonSchema(operation.data) }),
  },
  required: operation.data ? ['status', 'message', 'data'] : ['status', 'message'],
})

const scopeNote = (operation: Operation): string => {
  if (operation.operator) return 'Only an operator key can call it. '
  const needed = neededScope(operation)
  if (needed === undefined) return ''
  return needed === 'any' ? 'Any key can call it. ' : `Scope of the key: ${needed}. `
}

/** The same rule as `planRequest`: names in `{}` into the path, the rest into the query or the body. */
const operationObject = (operationId: string, operation: Operation): Json => {
  const { properties, required = [], ...rest } = jsonSchema(operation.input) as ObjectSchema
  const inPath = pathNames(operation.path)
  const others = Object.keys(properties).filter((name) => !inPath.includes(name))
  const hasBody = operation.method === 'POST' || operation.method === 'PUT'
  const command = ['svc', operation.cli, operation.example].filter(Boolean).join(' ')
  return {
    operationId,
    tags: [operation.cli.split(' ')[0]],
    summary: operation.summary,
    description: `${scopeNote(operation)}${operation.hidden ? 'For programs' : `Command: \`${command}\``}`,
    'x-svc-scope': [operation.scope ?? []].flat(),
    ...(operation.open && { security: [] }),
    ...(operation.session && { security: [{ approverSession: [] }, ...(operation.open ? [{}] : [])] }),
    parameters: [
      ...inPath.map((name) => parameter('path', name, properties[name]!, true)),
      ...(hasBody ? [] : others).map((name) =>
        parameter('query', name, properties[name]!, required.includes(name)),
      ),
      ...(operation.effect === 'read' ? [] : [ref('parameters', 'idempotencyKey')]),
    ],
    ...(hasBody && {
      requestBody: {
        required: true,
        content: json({
          ...rest,
          properties: Object.fromEntries(others.map((name) => [name, properties[name]])),
          required: required.filter((name) => others.includes(name)),
        }),
      },
    }),
    responses: {
      200: {
        description: operation.message,
        headers: { 'x-request-id': ref('headers', 'requestId') },
        content: json(successEnvelope(operation)),
      },
      '4XX': ref('responses', 'error'),
      '5XX': ref('responses', 'error'),
    },
  }
}

/** The versions that the specification declares, by the first word of the commands of a group. */
const versions = { notify: '1.0.1' } as Record<string, string>
const version = '1.0.0'

const tags = (): Json[] =>
  [...new Set(Object.values(table).map(({ cli }) => cli.split(' ')[0]!))].map((name) => ({
    name,
    'x-version': versions[name] ?? version,
  }))

const components: Json = {
  parameters: {
    idempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      description: 'A repeat with the same key within 24 hours returns the first answer, without its secrets',
      schema: { type: 'string', maxLength: 255 },
    },
  },
  headers: {
    requestId: {
      description: 'Identifies the request in the log and the audit log',
      schema: { type: 'string' },
    },
  },
  responses: {
    error: { description: 'What was wrong, and what to do about it', content: json(ref('schemas', 'Error')) },
  },
  schemas: {
    // spec: not shown (the body of an error)
    Error: jsonSchema(
      z.looseObject({
        status: z.string().check(z.regex(/^(?!success$)/)),
        message: z.string(),
        data: z.looseObject({
          code: z.string(),
          hint: z.optional(z.string()),
          issues: z.optional(z.array(z.looseObject({ field: z.string(), message: z.string() }))),
        }),
      }),
    ),
  },
}

const probe = (operationId: string, summary: string, responses: Json): Json => ({
  get: { operationId, tags: ['service'], summary, security: [], responses },
})

const health = probe('health', 'Report whether the service can write', {
  200: {
    description: '`ok` is false while nothing can be written',
    content: json(jsonSchema(z.looseObject({ ok: z.boolean(), transport: z.string() }))),
  },
})

const rpc = { jsonrpc: z.literal('2.0'), id: z.optional(z.union([z.string(), z.int()])) }
const rpcError = z.looseObject({ ...rpc, error: z.looseObject({ code: z.int(), message: z.string() }) })

const toolServer: Json = {
  post: {
    operationId: 'mcp',
    tags: ['service'],
    summary: 'Call the approval tools (JSON-RPC 2.0)',
    security: [{ bearer: [] }, {}],
    requestBody: {
      required: true,
      content: json(
        jsonSchema(z.looseObject({ ...rpc, method: z.string(), params: z.optional(z.looseObject({})) })),
      ),
    },
    responses: {
      200: {
        description: 'The response, or a stream of events that ends with it',
        content: {
          ...json(jsonSchema(z.looseObject({ ...rpc, result: z.optional(z.looseObject({})) }))),
          'text/event-stream': { schema: { type: 'string' } },
        },
      },
      401: { description: 'The bearer is missing or not valid', content: json(jsonSchema(rpcError)) },
    },
  },
}

// spec: not shown
const ready = probe('ready', 'Report whether a load balancer should send requests here', {
  200: { description: 'Ready', content: json(jsonSchema(z.looseObject({ ok: z.boolean() }))) },
  503: {
    description: 'Not ready: the service is starting or stopping, or cannot write',
    content: json(
      jsonSchema(
        z.looseObject({
          ok: z.boolean(),
          reason: z.enum(['starting', 'stopping', 'storage_unavailable', 'store_damaged']),
        }),
      ),
    ),
  },
})

/**
 * OpenAPI 3.1 of the whole table; pauses after each operation, so that other requests are not delayed. `publicUrl` is an
 * origin, without a slash at the end.
 */
export function* openApiInParts(publicUrl: string): Generator<undefined, Json> {
  const atOrigin = { servers: [{ url: publicUrl }] }
  const paths: Record<string, Json> = {
    '/health': { ...atOrigin, ...health },
    '/health/ready': { ...atOrigin, ...ready },
    '/mcp': { ...atOrigin, ...toolServer },
  }
  for (const [operationId, operation] of Object.entries(table)) {
    const { path, method } = operation
    paths[path] ??= path.startsWith('/svc/') ? { ...atOrigin } : {}
    paths[path][method.toLowerCase()] = operationObject(operationId, operation)
    yield
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Biometric approval and identity verification',
      version,
      description:
        'Fields marked `x-spec: shown` are in the specification; `chosen` ones are decided by this service.',
    },
    servers: [{ url: `${publicUrl}/admin/public/api` }],
    security: [{ apiKey: [] }],
    tags: [...tags(), { name: 'service', 'x-version': version }],
    paths,
    components: {
      ...components,
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        bearer: { type: 'http', scheme: 'bearer' },
        approverSession: { type: 'apiKey', in: 'cookie', name: sessionCookie(publicUrl) },
      },
    },
  }
}

import { validate } from '@readme/openapi-parser'
import { describe, expect, test } from 'vitest'
import { createOpenApi } from './whole-openapi.ts'
import { table } from '../../src/contract/table.ts'

type Schema = {
  'x-spec'?: string
  properties?: Record<string, Schema>
  items?: Schema
  required?: string[]
}
type Content = { content: { 'application/json': { schema: Schema } } }
type Method = {
  operationId: string
  parameters: { name?: string; in: string; required: boolean; 'x-spec'?: string }[]
  requestBody?: Content
  responses: { 200: Content }
  security?: unknown
}
type Path = { servers?: unknown; get: Method; post: Method; put: Method; delete: Method }

const document = createOpenApi('https://svc.example')
const paths = document.paths as Record<string, Path>
const methods = (path: Path): Method[] =>
  [path.get, path.post, path.put, path.delete].filter((method) => method !== undefined)
const schemaOf = (content?: Content): Schema => content?.content['application/json'].schema ?? {}
const check = (api: object) => validate(structuredClone(api) as never)

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1', async () => {
    expect(await check(document)).toEqual({ valid: true, warnings: [], specification: 'OpenAPI' })
  })

  test('is rejected by the same validator when a path value is not declared', async () => {
    const broken = structuredClone(document) as { paths: typeof paths }
    broken.paths['/organization/{org_id}/users']!.get.parameters.shift()
    expect((await check(broken)).valid).toBe(false)
  })

  test('contains the tool server and the health of the service, at the origin', () => {
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/mcp', '/health']))
    expect(paths['/mcp']).toMatchObject({
      servers: [{ url: 'https://svc.example' }],
      post: { operationId: 'mcp', security: [{ bearer: [] }, {}] },
    })
  })

  test('contains every operation of the table once, by name', () => {
    const ids = Object.values(paths).flatMap((path) => methods(path).map((one) => one.operationId))
    expect(ids.toSorted()).toEqual([...Object.keys(table), 'health', 'ready', 'mcp'].toSorted())
  })

  test('has path values, queries and bodies in the same places as the client', () => {
    const create = paths['/organization/{org_id}/create/geo-fence']!.post
    expect(create.parameters[0]).toMatchObject({ name: 'org_id', in: 'path', required: true })
    const body = schemaOf(create.requestBody)
    expect(body.required).toEqual(['name', 'latitude', 'longitude', 'radius', 'is_active'])
    const list = paths['/organization/{org_id}/users']!.get
    expect(list.requestBody).toBeUndefined()
    expect(list.parameters.map((one) => [one.name, one.in, one.required])).toContainEqual([
      'state',
      'query',
      false,
    ])
  })

  test('marks each field as shown by the specification or chosen by us', () => {
    const unmarked: string[] = []
    const look = (where: string, schema: Schema): void => {
      for (const [name, field] of Object.entries(schema.properties ?? {})) {
        if (!field['x-spec']) unmarked.push(`${where}.${name}`)
        look(`${where}.${name}`, field)
      }
      if (schema.items) look(`${where}[]`, schema.items)
    }
    for (const one of Object.values(paths).flatMap(methods)) {
      if (!(one.operationId in table)) continue
      for (const { name, 'x-spec': spec } of one.parameters)
        if (name && !spec) unmarked.push(`${one.operationId} ${name}`)
      look(`${one.operationId} body`, schemaOf(one.requestBody))
      look(`${one.operationId} data`, schemaOf(one.responses[200]).properties?.data ?? {})
    }
    expect(unmarked).toEqual([])
  })

  test('has the API root as its server, and the origin for routes above it', () => {
    expect(document.servers).toEqual([{ url: 'https://svc.example/admin/public/api' }])
    for (const path of ['/health', '/svc/v1/keys'])
      expect(paths[path]!.servers).toEqual([{ url: 'https://svc.example' }])
  })

  test('requires x-api-key everywhere except at the probes', () => {
    expect(document).toMatchObject({
      security: [{ apiKey: [] }],
      components: { securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } } },
    })
    for (const path of ['/health', '/health/ready']) expect(paths[path]!.get.security).toEqual([])
  })
})

import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { planRequest } from '../../src/client/request.ts'
import { createOpenApi } from '../contract/whole-openapi.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { table } from '../../src/contract/table.ts'
import { memoryIo } from '../cli/memory-io.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { fields, filled, rest, routeText, standing, toolServer, type PromisedField } from './law.ts'
import { commandTree, openContext } from '../../src/cli/main.ts'

// A table can be wrong and still agree with itself. So everything derived from it is compared with what was written by hand
// from the specification, not with the table.

const operations: Operation[] = Object.values(table)
const belowRoot = operations.filter(({ path }) => !path.startsWith('/svc/'))
// `[GET /organizations, …]`, so that a title names the route.
const each = standing.map((one) => [routeText(one), one] as const)
const promised = standing.map(routeText).toSorted()

test('the hand-written list has 64 REST operations and two routes of the tool server', () => {
  expect(new Set(rest.map(routeText)).size).toBe(64)
  expect(standing).toHaveLength(64)
  expect(toolServer.map(routeText)).toEqual(['GET /health', 'POST /mcp'])
})

test('the contract declares these operations by name, and nothing else below the API root', () => {
  expect(belowRoot.map(routeText).toSorted()).toEqual(promised)
})

describe('the client', () => {
  test.each(each)('calls %s on the route of the specification', (_, { method, path }) => {
    const operation = belowRoot.find((one) => one.method === method && one.path === path)!
    const { path: expected, values } = filled(path)
    expect(planRequest('https://api.example/admin/public/api', operation, values)).toMatchObject({
      method,
      url: `https://api.example/admin/public/api${expected}`,
    })
  })
})

describe('the command line', () => {
  let program: Command
  beforeAll(async () => {
    program = await commandTree(openContext(memoryIo()))
  })

  test.each(each)('reaches %s by the words of the command tree', (_, { command, method, path }) => {
    const [words, flag] = command.split(' --')
    let at: Command | undefined = program
    for (const word of words!.split(' ')) at = at?.commands.find((child) => child.name() === word)
    expect(at?.name()).toBe(words!.split(' ').at(-1))
    const flags = at?.options.map(({ long }) => long)
    expect(flags).toEqual(expect.arrayContaining(flag ? [`--${flag}`] : []))
    const operation = belowRoot.find((one) => one.method === method && one.path === path)!
    expect([operation.cli, operation.select?.toLowerCase()]).toEqual([words, flag && `${flag}id`])
  })

  test('has no two routes for the same words and flag', () => {
    expect(new Set(rest.map(({ command }) => command)).size).toBe(64)
  })
})

describe('the service', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(() => service.close())

  test.each(each)('has a handler for %s on that route', async (_, { method, path }) => {
    const body = method === 'GET' || method === 'DELETE' ? undefined : {}
    const { status } = await service.call(method, filled(path).path, { body })
    const asHono = path.replaceAll('{', ':').replaceAll('}', '')
    expect(service.log.at(-1)!.route).toBe(`/admin/public/api${asHono}`)
    expect([200, 404, 422]).toContain(status)
  })

  test('has no other routes below the API root', () => {
    const real = service.app.routes
      .filter(({ path, method }) => path.startsWith('/admin/') && method !== 'ALL')
      .map(
        ({ method, path }) => `${method} ${path.replace('/admin/public/api', '').replace(/:(\w+)/g, '{$1}')}`,
      )
    expect(real.toSorted()).toEqual(promised)
  })

  test('answers GET /health without credentials, with ok and transport', async () => {
    const { status, body } = await service.call('GET', '/health', { key: null })
    expect(status).toBe(200)
    expect(body).toEqual({ ok: expect.any(Boolean), transport: expect.any(String) })
  })
})

type Schema = {
  'x-spec'?: string
  type?: string
  properties?: Record<string, Schema>
  items?: Schema
  required?: string[]
}
const named = ({ route, place, field, type }: PromisedField): string => `${route} ${place} ${field} ${type}`
type Found = PromisedField & { source: string | undefined }

const fieldsBelow = (
  schema: Schema | undefined,
  at: Pick<Found, 'route' | 'place'>,
  above: string,
): Found[] => {
  if (schema?.items) return fieldsBelow(schema.items, at, `${above}[]`)
  const found: Found[] = []
  for (const [name, field] of Object.entries(schema?.properties ?? {})) {
    const path = above === '' ? name : `${above}.${name}`
    const required = schema?.required?.includes(name) ?? false
    found.push({ ...at, field: path, type: field.type!, required, source: field['x-spec'] })
    found.push(...fieldsBelow(field, at, path))
  }
  return found
}

describe('the OpenAPI document', () => {
  type Content = { content: { 'application/json': { schema: Schema } } }
  type Method = {
    parameters: { name: string; in: string; 'x-spec': string }[]
    requestBody?: Content
    responses: { 200: Content }
  }
  const paths = createOpenApi('https://svc.example').paths as Record<string, Record<string, Method>>

  test('declares the version of each group of operations', () => {
    const document = createOpenApi('https://svc.example') as {
      info: { version: string }
      tags: { name: string; 'x-version': string }[]
    }
    const versions = Object.fromEntries(document.tags.map((tag) => [tag.name, tag['x-version']]))
    const { version } = document.info
    const { notify, mobile, iot, org, user, geofence, timeslot, auth } = versions
    expect({ version, notify, mobile, iot, org, user, geofence, timeslot, auth }).toEqual({
      version: '1.0.0',
      notify: '1.0.1',
      mobile: '1.0.0',
      iot: '1.0.0',
      org: '1.0.0',
      user: '1.0.0',
      geofence: '1.0.0',
      timeslot: '1.0.0',
      auth: '1.0.0',
    })
  })

  const described = Object.entries(paths)
    .filter(([path]) => !/^\/(?:health|mcp|svc)(?:\/|$)/.test(path))
    .flatMap(([path, item]) =>
      Object.entries(item).map(([method, { parameters, requestBody, responses }]) => {
        return { route: `${method.toUpperCase()} ${path}`, parameters, requestBody, responses }
      }),
    )

  test('describes these routes and no other', () => {
    expect(described.map(({ route }) => route).toSorted()).toEqual(promised)
  })

  test('marks path values as shown, and every query parameter as chosen', () => {
    const marks = described.flatMap(({ parameters }) =>
      parameters.filter(({ name }) => name).map((one) => [one.in, one['x-spec']].join(' ')),
    )
    expect([...new Set(marks)].toSorted()).toEqual(['path shown', 'query chosen'])
  })

  test('marks the fields of the specification as shown, with their types, and all others as chosen', () => {
    const found: Found[] = []
    for (const { route, requestBody, responses } of described) {
      const body = requestBody?.content['application/json'].schema
      const answer = responses[200].content['application/json'].schema
      found.push(...fieldsBelow(body, { route, place: 'body' }, ''))
      found.push(...fieldsBelow(answer.properties?.data, { route, place: 'data' }, ''))
    }
    const shownFields = found.filter(({ source }) => source === 'shown')
    expect(shownFields.map(named).toSorted()).toEqual(fields.map(named).toSorted())
    expect(found.filter(({ source }) => source !== 'shown' && source !== 'chosen')).toEqual([])
    const mustHave = fields.filter(({ required }) => required).map(named)
    expect(shownFields.filter(({ required }) => required).map(named)).toEqual(
      expect.arrayContaining(mustHave),
    )
  })
})

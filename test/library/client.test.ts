import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { table } from '../../src/contract/table.ts'
import { createClient } from '../../src/library/create-client.ts'
import { inTermsOfOptions } from '../../src/library/error.ts'
import type { ClientOptions } from '../../src/library/options.ts'
import { SvcError } from '../../src/library/svc.ts'
import { failure, secretKey } from '../client/hosted.ts'
import { json, stall, startFakeHosted } from '../fake-hosted.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const success = (data?: unknown) => json(200, { status: 'success', message: 'OK', data })

const start = async (options: Partial<ClientOptions> = {}) => {
  const service = await startFakeHosted()
  const key = 'apiKeyFile' in options ? {} : { apiKey: secretKey }
  const client = createClient({ baseUrl: service.baseUrl, ...key, ...options })
  onTestFinished(async () => {
    await client.close()
    await service.close()
  })
  return { client, service }
}

describe('a call', () => {
  test('sends the operation of that name and returns its data', async () => {
    const { client, service } = await start()
    service.next(success({ id: 12, name: 'Headquarters' }))
    const fence = await client.createGeofence(
      { org_id: 1, name: 'Headquarters', latitude: 52.52, longitude: 13.405, radius: 150, is_active: 1 },
      { idempotencyKey: 'once' },
    )
    expect(fence).toEqual({ id: 12, name: 'Headquarters' })
    const [request] = service.seen
    expect(request).toMatchObject({
      method: 'POST',
      path: '/admin/public/api/organization/1/create/geo-fence',
    })
    expect(request!.headers).toMatchObject({ 'x-api-key': secretKey, 'idempotency-key': 'once' })
  })

  test('takes no input when every field is optional', async () => {
    const { client, service } = await start()
    service.next(success([{ id: 1, slug: 'acme' }]))
    expect(await client.listOrganizations()).toEqual([{ id: 1, slug: 'acme' }])
  })

  test('repeats a read after a temporary failure, and a message to a person never', async () => {
    const { client, service } = await start()
    service.next(json(503, {}), success([]))
    expect(await client.listKeys({})).toEqual([])
    expect(service.seen).toHaveLength(2)
    service.next(json(503, {}))
    const error = await failure(client.createApproval({ action: 'Deploy', approvers: ['+12025550101'] }))
    expect(error.http_status).toBe(503)
    expect(service.seen).toHaveLength(3)
  })

  test('throws an SvcError with the code, the status, the hint and the id of the request', async () => {
    const { client, service } = await start()
    const data = { code: 'not_found', hint: 'svc geofence list --org 1' }
    service.next(
      json(404, { status: 'error', message: 'Geofence not found', data }, { 'x-request-id': 'req_7' }),
    )
    const error: unknown = await client.getGeofence({ org_id: 1, id: 9 }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(SvcError)
    expect(error).toMatchObject({
      message: 'Geofence not found',
      code: 'not_found',
      http_status: 404,
      request_id: 'req_7',
      hint: data.hint,
      exit: 'notFound',
    })
  })

  test('says what is wrong with a field before it sends anything', async () => {
    const { client, service } = await start()
    const error = await failure(client.getGeofence({ org_id: 0, id: 1 }))
    expect(error).toMatchObject({ code: 'invalid_field', message: 'org_id must be 1 or more' })
    expect(service.seen).toEqual([])
  })

  test('does not take success without data for an empty answer', async () => {
    const { client, service } = await start()
    service.next(success())
    expect(await failure(client.listKeys({}))).toMatchObject({ code: 'unexpected_answer' })
  })

  test('ends when its signal does', async () => {
    const { client, service } = await start()
    const over = new AbortController()
    service.next((...exchange) => {
      stall(...exchange)
      over.abort()
    })
    const error = await failure(client.listKeys({}, { signal: over.signal }))
    expect(error.code).toBe('interrupted')
  })

  test('ends when the service takes longer than timeoutMs', async () => {
    const { client, service } = await start({ timeoutMs: 30 })
    service.always(stall)
    const error = await failure(client.listKeys({}))
    expect(error).toMatchObject({ code: 'timed_out', exit: 'unreachable' })
    expect(error.hint).toContain('baseUrl')
  })
})

test('pages yield one page of a list at a time', async () => {
  const { client, service } = await start()
  const next = { link: `<${service.origin}/svc/v1/audit?limit=1&cursor=b>; rel="next"` }
  service.next(
    json(200, { status: 'success', message: 'Audit', data: [{ seq: 2 }] }, next),
    success([{ seq: 1 }]),
  )
  const seen: number[][] = []
  for await (const rows of client.pages('listAudit', { limit: 1 })) seen.push(rows.map(({ seq }) => seq))
  expect(seen).toEqual([[2], [1]])
})

describe('the key', () => {
  test('in a file is read before each request', async () => {
    const folder = temporaryFolder()
    onTestFinished(() => folder.remove())
    const apiKeyFile = join(folder.path, 'key')
    const { client, service } = await start({ apiKeyFile })
    service.always(success([]))
    for (const key of ['first', 'second']) {
      writeFileSync(apiKeyFile, `${key}\n`)
      await client.listKeys({})
    }
    expect(service.seen.map(({ headers }) => headers['x-api-key'])).toEqual(['first', 'second'])
  })

  test('in a file that does not exist is named in the error', async () => {
    const { client } = await start({ apiKeyFile: '/nothing/here' })
    expect((await failure(client.listKeys({}))).message).toBe(
      'The key file /nothing/here cannot be read (ENOENT)',
    )
  })

  test('comes from a function', async () => {
    const { client, service } = await start({ apiKey: async () => 'fresh' })
    service.next(success([]))
    await client.listKeys({})
    expect(service.seen[0]!.headers['x-api-key']).toBe('fresh')
  })

  test('is not sent over plain http to another machine, and is in no error', async () => {
    const client = createClient({ baseUrl: 'http://svc.example.com/admin/public/api', apiKey: secretKey })
    const error = await failure(client.listKeys({}))
    expect(error.code).toBe('insecure_url')
    expect(JSON.stringify(error)).not.toContain(secretKey)
  })

  test('with a line break is refused without being shown', async () => {
    const { client } = await start({ apiKey: 'secret\nvalue' })
    const error = await failure(client.listKeys({}))
    expect(error).toMatchObject({ code: 'bad_key' })
    expect(JSON.stringify({ ...error, message: error.message })).not.toContain('value')
  })
})

test.each<[ClientOptions, string]>([
  [undefined as never, 'createClient requires baseUrl'],
  [{ baseUrl: undefined, apiKey: 'k' } as never, 'createClient requires baseUrl'],
  [{ baseUrl: 'https://svc.example.com' }, 'createClient requires either apiKey or apiKeyFile'],
  [
    { baseUrl: 'https://svc.example.com', apiKey: 'k', apiKeyFile: 'f' },
    'createClient requires either apiKey or apiKeyFile',
  ],
  [{ baseUrl: 'htp:/x', apiKey: 'k' }, 'baseUrl must start with http:// or https://'],
  [
    { baseUrl: 'https://svc.example.com', apiKey: 'k', timeoutMs: 0 },
    'timeoutMs must be a number of milliseconds above 0, not 0',
  ],
])('createClient refuses %j', (options, message) => {
  expect(() => createClient(options)).toThrow(message)
})

test('has a method for every operation that a key can call, and nothing of its own hides one', () => {
  const client = createClient({ baseUrl: 'https://svc.example.com', apiKey: 'k' })
  const callable = Object.entries(table).filter(([, operation]) => !('session' in operation))
  const own = ['pages', 'keySet', 'origin', 'close']
  expect(Object.keys(client).toSorted()).toEqual([...callable.map(([id]) => id), ...own].toSorted())
})

test.each([
  ['Check the address: svc profile show --explain', 'Check the address: baseUrl'],
  [
    'For a private certificate authority: --cacert FILE',
    'For a private certificate authority: the option ca',
  ],
  ['Request fewer rows: --limit 1000', 'Request fewer rows: limit: 1000'],
  [
    'Use a key with the required scope: svc profile list, --profile NAME',
    'Use a key with the required scope: apiKey or apiKeyFile',
  ],
  [
    'If the service has moved: svc profile set base_url …, then svc profile login',
    'Check baseUrl and the API key',
  ],
  ['Try again in 30 s', 'Try again in 30 s'],
])('replaces the hint %j', (hint, expected) => {
  expect(inTermsOfOptions(new SvcError('failed', 'x', 'x', { hint }))).toMatchObject({ hint: expected })
})

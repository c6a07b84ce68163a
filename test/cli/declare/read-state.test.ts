import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readDocument } from '../../../src/cli/declare/document.ts'
import { exportText } from '../../../src/cli/declare/export-text.ts'
import { planFrom } from '../../../src/cli/declare/plan.ts'
import type { HttpRequest } from '../../../src/core/transport.ts'
import { failure, withHosted } from '../../client/hosted.ts'
import { createTenant, dataOf, fence } from '../../service/fixtures.ts'
import { startTestService, type TestService } from '../../service/harness.ts'
import { acme, apply, clientOf, people, read } from './in-process.ts'
import { organization } from './rows.ts'

let service: TestService
beforeEach(async () => {
  service = await startTestService()
})
afterEach(() => service.close())

describe('the state of a service', () => {
  test('is read in few requests, whatever the number of users', async () => {
    const requests: HttpRequest[] = []
    const client = clientOf(service, { seen: requests })
    await apply(readDocument(`${acme}users:\n${people(30)}`, 'x'), client)
    requests.length = 0
    await read(client)
    expect(requests).toHaveLength(9)
  })

  test('is the same from a service without the routes of svc', async () => {
    const client = clientOf(service)
    await fc.assert(
      fc.asyncProperty(organization, async (wanted) => {
        await apply(wanted, client)
        const other = clientOf(service, {
          answer: ({ url }) =>
            url.includes('/svc/v1/') ? { status: 404, body: '<html>not found</html>' } : undefined,
        })
        expect(await read(other)).toEqual(await read(client))
      }),
      { numRuns: 5 },
    )
  })

  test('names all sections at once that a key cannot read', async () => {
    const { id } = await createTenant(service, 'acme')
    const body = { name: 'asks', org_id: id, scopes: ['ask'] }
    const { key } = dataOf(await service.call('POST', '/svc/v1/keys', { body }))
    const { code, message } = await failure(read(clientOf(service, { key })))
    expect([code, message]).toEqual([
      'scope_missing',
      expect.stringMatching(/^This key cannot read [a-z_]+(?:, [a-z_]+){2,} of the organization$/),
    ])
  })

  test('is rejected if the service returns no ID or another organization', async () => {
    const { client } = await withHosted()
    expect((await failure(read(client))).message).toBe(
      'The service did not return an id for the organization acme',
    )
    const other = clientOf(service, {
      answer: () => ({
        status: 200,
        body: '{"status":"success","message":"","data":{"id":2,"slug":"globex"}}',
      }),
    })
    expect((await failure(read(other))).message).toBe('The service returned globex instead of acme')
    expect((await failure(read(other, '1'))).message).toBe('The service returned globex instead of 1')
  })

  test('separates objects with the same name, and exports the others', async () => {
    const { id } = await createTenant(service, 'acme')
    for (const name of ['HQ', 'HQ', 'Lab'])
      dataOf(await service.call('POST', `/organization/${id}/create/geo-fence`, { body: { ...fence, name } }))
    const state = await read(clientOf(service))
    expect(state.ambiguous).toEqual([{ section: 'geofences', key: 'HQ', ids: [1, 2] }])
    expect(exportText(state)).toContain('# Left out: 2 geofences have the name "HQ"')
    const again = readDocument(exportText(state), 'x')
    expect(again.rows.geofences?.map(({ key }) => key)).toEqual(['Lab'])
    expect(planFrom(again, state, { prune: true }).steps).toEqual([])
  })

  test('contains no ID, secret, code or key after an export', async () => {
    const { id, key } = await createTenant(service, 'acme')
    await service.call('POST', `/organization/${id}/idp-api-creds`, {
      body: { provider: 'okta', client_id: 'x', client_secret: 'canary-secret' },
    })
    const { code } = dataOf(
      await service.call('POST', `/organization/${id}/create/auth-code`, { body: { label: 'Berlin' } }),
    )
    const text = exportText(await read(clientOf(service)))
    expect(text).toContain('client_secret: (kept)')
    for (const secret of ['canary', code, code.slice(-4), key.slice(0, 12)])
      expect(text).not.toContain(secret)
    expect(text).not.toMatch(/\bid:|created_at|prefix/)
  })
})

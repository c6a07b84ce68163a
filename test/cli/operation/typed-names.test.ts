import { afterAll, beforeAll, expect, test } from 'vitest'
import { json, startFakeHosted, type FakeHosted } from '../../fake-hosted.ts'
import { svc } from '../svc.ts'

let service: FakeHosted
beforeAll(async () => {
  service = await startFakeHosted()
  service.always(json(404, { status: 'error', message: 'User not found', data: { code: 'not_found' } }))
})
afterAll(() => service.close())

const run = (words: string) =>
  svc(`${words} --org 1`, { env: { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: 'k' } })

test.each(['user get', 'user remove --yes', 'user make-admin --yes'])(
  'svc %s leads from an e-mail address to the id',
  async (words) => {
    const { hint } = await run(`${words} ada@acme.example`)
    expect(hint).toBe('svc user details --org 1 --email ada@acme.example shows the id')
  },
)

test('an unknown id leads to no e-mail address', async () => {
  expect((await run('user get 99')).hint).toContain('Check the id and --org')
})

test('operations with the same words have one line', async () => {
  const { out } = await svc('geofence list --help')
  expect(out).toContain('List the geofences of an organization or a user\n')
})

test.each([
  ['ok', 'or dispute is required, and not both', '--ok or --dispute is required, and not both'],
  ['note', 'is required with dispute', '--note is required with --dispute'],
])('a refusal of %s names the other flag as it is typed', async (field, message, typed) => {
  const data = { code: 'invalid_field', issues: [{ field, message }] }
  service.next(json(422, { status: 'error', message: `${field} ${message}`, data }))
  const env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: 'k' }
  expect((await svc('approve review apr_1', { env })).message).toBe(typed)
})

import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'
import { json, startFakeHosted, type FakeHosted } from '../fake-hosted.ts'
import { svc } from './svc.ts'

// A service that answers every request with success and without data, as the specification allows for most of them. What
// it does not report must not be taken as empty, done or allowed.

let service: FakeHosted
const folder = temporaryFolder()
beforeAll(async () => {
  service = await startFakeHosted()
  service.always(json(200, { status: 'success', message: 'OK' }))
})
afterAll(async () => {
  await service.close()
  folder.remove()
})

const run = (line: string) =>
  svc(line, {
    cwd: folder.path,
    env: {
      SVC_CONFIG_DIR: join(folder.path, 'config'),
      SVC_BASE_URL: service.baseUrl,
      SVC_API_KEY: 'svc_op_1a2b3c4d_key',
    },
  })

describe('a response without data', () => {
  test.each([
    ['audit verify --org 1', 'audit list'],
    ['user enroll 1 --org 1 --software', 'user get'],
    ['user export --org 1', 'user list'],
    ['geofence map --org 1', 'geofence list'],
    ['timeslot week --org 1', 'timeslot list'],
    ['export --org 1', 'org get'],
    ['diff org.yaml', 'org get'],
    ['apply org.yaml --yes', 'org get'],
    ['notify test --channel email --to ada@acme.example', 'notify test'],
  ])('is an error for svc %s', async (line, asked) => {
    writeFileSync(join(folder.path, 'org.yaml'), 'svc: 1\norganization:\n  slug: acme\n  name: Acme\n')
    const { exit, out, err } = await run(line)
    expect({ exit, out }).toEqual({ exit: 1, out: '' })
    expect(err).not.toContain('inside svc')
    expect(err).toContain(`The service reported success and returned no data for svc ${asked}`)
    expect(readdirSync(folder.path).filter((name) => /partial|approver-/.test(name))).toEqual([])
  })

  test.each([
    ['key create --name ci --can ask', 'key'],
    ['key rotate 1', 'key'],
    ['user enroll 1 --org 1', 'url, token'],
  ])('contains no secret, and svc %s says so', async (line, names) => {
    const { exit, out, err } = await run(line)
    expect(exit).toBe(11)
    expect(out).toContain('OK')
    expect(err).toContain(`reported success and returned no ${names}`)
  })

  test('does not prevent that a key is revoked', async () => {
    expect(await run('key revoke 1 --yes')).toMatchObject({ exit: 0 })
  })
})

const findings = async (answers: Record<string, unknown>) => {
  service.always((request, response) => {
    const found = Object.keys(answers).find((path) => request.path.startsWith(path))
    const data = found === undefined ? { status: 'success', message: 'OK' } : answers[found]
    json(200, data)(request, response)
  })
  const { out } = await run('doctor -o json')
  return JSON.parse(out) as { check: string; state: string; message: string; next: string | null }[]
}
const of = (check: string, all: Awaited<ReturnType<typeof findings>>) =>
  all.filter((one) => one.check === check).map(({ state, message }) => [state, message])

describe('a web page with status 200', () => {
  test('is no sign of a healthy tool server', async () => {
    const all = await findings({ '/health': { status: 'UP' } })
    expect(of('tool server', all)).toEqual([['note', `none known at ${service.origin}`]])
  })

  test('is no sign of working delivery', async () => {
    const data = [{ id: 7, carrier: 'DHL' }]
    const all = await findings({ '/svc/v1/delivery': { status: 'success', message: 'OK', data } })
    expect(of('delivery', all)).toEqual([['note', 'this service does not report it']])
  })

  test('that reports a problem counts as unhealthy, with its reason', async () => {
    const all = await findings({ '/health': { ok: false } })
    expect(of('service', all)[0]).toEqual(['fail', `${service.origin} reports that it is not healthy`])
  })

  test('is not a healthy tool server for svc approve health', async () => {
    await findings({ '/health': { status: 'UP' } })
    const { exit, err } = await run('approve health')
    expect([exit, err]).toEqual([1, expect.stringContaining('does not report a health status')])
  })
})

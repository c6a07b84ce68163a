import { expect, test } from 'vitest'
import { json } from '../../fake-hosted.ts'
import { installHooks, run, service } from '../other-service.ts'

installHooks()

const check = async (args: string[], result: string) => {
  const data = { factor: 'location', result, reason: 'because', expected: null, observed: null }
  service.always(json(200, { status: 'success', message: 'Checked', data }))
  return { ...(await run([...args, '--org', '1'])), path: service.seen[0]?.path }
}
const place = ['geofence', 'check', '--latitude', '-33.86', '--longitude', '151.2']

test.each([
  ['PASS', 0],
  ['NOT_APPLICABLE', 0],
  ['FAIL', 1],
  ['INSUFFICIENT_DATA', 1],
])('a check with the result %s exits %i and prints the reason', async (result, exit) => {
  const checked = await check(place, result)
  expect(checked.exit).toBe(exit)
  expect(checked.out).toContain(`result\t${result}\nreason\tbecause\n`)
})

test('a location is sent as it was typed', async () => {
  const { path } = await check([...place, '--accuracy', '20', '--user', '7'], 'PASS')
  const { pathname, searchParams } = new URL(path!, 'http://x')
  expect(pathname).toBe('/svc/v1/organizations/1/geofence-check')
  expect(Object.fromEntries(searchParams)).toEqual({
    latitude: '-33.86',
    longitude: '151.2',
    accuracy_m: '20',
    user_id: '7',
  })
})

test('a time is sent as it was typed', async () => {
  const { exit, path } = await check(['timeslot', 'check', '--at', '2030-01-31T08:30:00+01:00'], 'FAIL')
  expect([exit, path]).toEqual([
    1,
    '/svc/v1/organizations/1/timeslot-check?at=2030-01-31T08%3A30%3A00%2B01%3A00',
  ])
})

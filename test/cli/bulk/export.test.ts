import { expect, test } from 'vitest'
import { json, type Answering } from '../../fake-hosted.ts'
import { desk, installHooks, refused, service } from './one-import.ts'

installHooks()

const page = (from: number, link: Record<string, string>): Answering =>
  json(
    200,
    {
      status: 'success',
      message: 'OK',
      data: [{ name: `F${from}`, latitude: 1, longitude: 2, radius: 3, is_active: 1 }],
    },
    link,
  )

test('an export asks for pages and holds no more than one', async () => {
  service.next(page(1, { link: '<?limit=1000&cursor=a>; rel="next"' }), page(2, {}))
  const { out } = await desk.svc(['geofence', 'export', '--org', '7', '--format', 'json'])
  expect(JSON.parse(out)).toEqual([
    expect.objectContaining({ name: 'F1' }),
    expect.objectContaining({ name: 'F2' }),
  ])
  expect(service.seen.map(({ path }) => path.split('geo-fences')[1])).toEqual([
    '?limit=1000',
    '?limit=1000&cursor=a',
  ])
})

test('an export that fails in the middle leaves nothing behind', async () => {
  service.next(page(1, { link: '<?cursor=a>; rel="next"' }), refused(500))
  expect((await desk.svc(['geofence', 'export', 'f.csv', '--org', '7'])).exit).toBe(1)
  expect(desk.files()).toEqual([])
})

test('an export of what could not be imported again is refused', async () => {
  const { exit, out, err } = await desk.svc(['user', 'export', 'out.csv', '--org', '7'])
  expect([exit, out, err]).toEqual([1, '', expect.stringContaining('returned a user without mobile')])
  expect(desk.has('out.csv')).toBe(false)
})

import { expect, test } from 'vitest'
import { json, type Answering } from '../../fake-hosted.ts'
import { workspace, installHooks, refused, service } from './one-import.ts'

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

test('an export reads page by page and holds only one', async () => {
  service.next(page(1, { link: '<?cursor=a>; rel="next"' }), page(2, {}))
  const { out } = await workspace.svc(['geofence', 'export', '--org', '7', '--format', 'json'])
  expect(JSON.parse(out)).toEqual([
    expect.objectContaining({ name: 'F1' }),
    expect.objectContaining({ name: 'F2' }),
  ])
  expect(service.seen.map(({ path }) => path.split('geo-fences')[1])).toEqual(['', '?cursor=a'])
})

test('an export that fails halfway leaves no file', async () => {
  service.next(page(1, { link: '<?cursor=a>; rel="next"' }), refused(500))
  expect((await workspace.svc(['geofence', 'export', 'f.csv', '--org', '7'])).exit).toBe(1)
  expect(workspace.files()).toEqual([])
})

test('an export that could not be imported again is rejected', async () => {
  const { exit, out, err } = await workspace.svc(['user', 'export', 'out.csv', '--org', '7'])
  expect([exit, out, err]).toEqual([1, '', expect.stringContaining('returned a user without mobile')])
  expect(workspace.has('out.csv')).toBe(false)
})

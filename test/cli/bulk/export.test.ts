import { expect, test } from 'vitest'
import { json, type Answering } from '../../fake-hosted.ts'
import { workspace, installHooks, refused, service } from './one-import.ts'

installHooks()

const page = (mobile: string | undefined, link: Record<string, string>): Answering =>
  json(200, { status: 'success', message: 'OK', data: [{ id: 1, mobile, first_name: 'A' }] }, link)
const next = { link: '<?cursor=a>; rel="next"' }
const exported = () => workspace.svc(['user', 'export', '--org', '7'])

test('an export reads page by page', async () => {
  service.next(page('+12025550101', next), page('+12025550102', {}))
  const { out } = await exported()
  expect(out).toBe(
    'mobile,country_code,email,first_name,last_name,role\n+12025550101,,,A,,\n+12025550102,,,A,,\n',
  )
  expect(service.seen.map(({ path }) => path.split('/users')[1])).toEqual(['?state=active', '?cursor=a'])
})

test('an export that fails halfway says so', async () => {
  service.next(page('+12025550101', next), refused(500))
  expect((await exported()).exit).toBe(1)
})

test('an export that could not be imported again is rejected', async () => {
  service.next(page(undefined, {}))
  const { exit, out, err } = await exported()
  expect([exit, out, err]).toEqual([1, '', expect.stringContaining('returned a user without mobile')])
})

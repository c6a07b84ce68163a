import { afterAll, beforeAll, expect, test } from 'vitest'
import { json, startFakeHosted, type FakeHosted } from '../../fake-hosted.ts'
import { svc } from '../svc.ts'

let service: FakeHosted
beforeAll(async () => {
  service = await startFakeHosted()
})
afterAll(() => service.close())

const rows = Array.from({ length: 5 }, (_, i) => ({ id: i + 1, name: `Org ${i + 1}`, slug: `org-${i + 1}` }))

/** Lists organizations from pages with these numbers of rows. */
const list = async (sizes: readonly number[], ...flags: string[]) => {
  const { baseUrl } = service
  const root = new URL(baseUrl).pathname
  service.always((request, response) => {
    const page = Number(new URL(request.path, service.origin).searchParams.get('cursor') ?? 0)
    const from = sizes.slice(0, page).reduce((sum, size) => sum + size, 0)
    const data = rows.slice(from, from + sizes[page]!)
    const link = { link: `<${root}/organizations?cursor=${page + 1}>; rel="next"` }
    const isLast = page === sizes.length - 1
    json(200, { status: 'success', message: 'OK', data }, isLast ? {} : link)(request, response)
  })
  const env = { SVC_BASE_URL: baseUrl, SVC_API_KEY: 'k'.repeat(20), SVC_CONFIG_DIR: '/nonexistent' }
  const { exit, out, err } = await svc(['org', 'list', ...flags], { env })
  expect([exit, err]).toEqual([0, ''])
  return out
}

test.each([[['-o', 'json']], [['-o', 'ndjson']], [['-o', 'tsv']], [['-o', 'id']], [[]]])(
  'a list with %j reads the same from one page and from several',
  async (flags) => {
    const whole = await list([5], ...flags)
    expect(whole.length).toBeGreaterThan(9)
    for (const sizes of [
      [2, 2, 1],
      [2, 3, 0],
      [1, 0, 4],
    ])
      expect(await list(sizes, ...flags)).toBe(whole)
  },
)

test('a list of empty pages reads as an empty one', async () => {
  expect(await list([0, 0], '-o', 'json')).toBe(await list([0], '-o', 'json'))
})

test.each([[['-o', 'csv']], [['-o', 'yaml']], [['--jq', 'length']]])(
  'a list with %j, which needs every row at once, reads the same from several pages, too',
  async (flags) => expect(await list([2, 2, 1], ...flags)).toBe(await list([5], ...flags)),
)

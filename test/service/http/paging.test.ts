import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestService, type TestService } from '../harness.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
  for (let i = 1; i <= 5; i++)
    await service.call('POST', '/organization/create', { body: { name: `Org ${i}` } })
})
afterAll(() => service.close())

const nextOf = (link: string | undefined): string | undefined => /^<(.+)>; rel="next"$/.exec(link ?? '')?.[1]

test('returns every row and links no page without a limit', async () => {
  const { body, headers } = await service.call('GET', '/organizations')
  expect(body.data).toHaveLength(5)
  expect(headers).not.toHaveProperty('link')
})

test('with a limit each page names the next, and the last none', async () => {
  const pages: number[][] = []
  let path: string | undefined = '/organizations?limit=2'
  while (path !== undefined) {
    const { body, headers } = await service.call('GET', path)
    pages.push(body.data.map(({ id }: { id: number }) => id))
    path = nextOf(headers.link)?.replace('http://127.0.0.1:8080/admin/public/api', '')
  }
  expect(pages.map(({ length }) => length)).toEqual([2, 2, 1])
  const whole = (await service.call('GET', '/organizations')).body.data
  expect(pages.flat()).toEqual(whole.map(({ id }: { id: number }) => id))
})

test('a page that is exactly full names no next one', async () => {
  expect((await service.call('GET', '/organizations?limit=5')).headers).not.toHaveProperty('link')
})

test.each(['nonsense', 'YWZ0ZXI6eA', '../../x'])(
  'a cursor %j that we never gave is refused',
  async (cursor) => {
    const { status, body } = await service.call('GET', `/organizations?limit=2&cursor=${cursor}`)
    expect(status).toBe(422)
    expect(body.data.issues[0].field).toBe('cursor')
  },
)

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../temporary-folder.ts'
import { json, page, startFakeHosted, text, type FakeHosted } from '../../fake-hosted.ts'
import { svc } from '../svc.ts'

let service: FakeHosted
const folder = temporaryFolder()
beforeAll(async () => {
  service = await startFakeHosted()
})
afterAll(async () => {
  await service.close()
  folder.remove()
})

const api = (argv: string[], { tty = false } = {}) =>
  svc(['api', ...argv], {
    tty,
    env: { NO_COLOR: '1', SVC_CONFIG_DIR: folder.path, SVC_BASE_URL: service.baseUrl, SVC_API_KEY: 'k' },
  })

const list = (data: unknown, headers = {}) =>
  json(200, { status: 'success', message: 'Users', data }, headers)
const rows = [
  { id: 1, name: 'Ada' },
  { id: 2, name: 'Al\u001b[2J' },
]
const body =
  '{"status":"success","message":"Users","data":[{"id":1,"name":"Ada"},{"id":2,"name":"Al\\u001b[2J"}]}'

describe('svc api', () => {
  test('prints the response body unchanged, with a final newline', async () => {
    service.next(list(rows), text(200, 'a\nb\n'), text(200, ''))
    expect((await api(['/users'])).out).toBe(`${body}\n`)
    expect((await api(['/users'])).out).toBe('a\nb\n')
    expect((await api(['/users'])).out).toBe('')
  })

  test('indents JSON on a terminal, and escapes unsafe characters', async () => {
    service.next(list(rows), text(200, 'plain \u001b[2J'))
    const { out } = await api(['/users'], { tty: true })
    expect(out).toBe(`${JSON.stringify(JSON.parse(body), null, 2)}\n`)
    expect((await api(['/users'], { tty: true })).out).toBe('plain \\u{001b}[2J\n')
  })

  test('accepts a path that starts with the API root, as a dry run prints it', async () => {
    service.next(list(rows))
    expect((await api(['/admin/public/api/users?limit=1'])).exit).toBe(0)
    expect(service.seen.at(-1)!.path).toBe('/admin/public/api/users?limit=1')
    const { out } = await api(['/admin/public/api/users', '--dry-run'])
    expect(out).toContain('/admin/public/api/users')
    expect(out).not.toContain('/api/admin')
  })

  test('honours -o json', async () => {
    service.next(list(rows))
    const { exit, out } = await api(['/users', '-o', 'json'])
    expect({ exit, out }).toEqual({ exit: 0, out: `${JSON.stringify(JSON.parse(body), null, 2)}\n` })
  })

  test.each([
    ['--jq', ['--jq', '.data[].id'], /^1\n2\n$/],
    ['-o yaml', ['-o', 'yaml'], /^status: success\nmessage: Users\ndata:\n {2}- id: 1\n/],
    ['-o csv', ['-o', 'csv'], /^id,name\n1,Ada\n2,/],
    ['-o id', ['-o', 'id'], /^1\n2\n$/],
    ['-o ndjson', ['-o', 'ndjson'], /^\{"id":1,"name":"Ada"\}\n/],
    ['-o table', ['-o', 'table'], /^ID +NAME\n1 +Ada\n/],
  ])('honours %s', async (_, flags, expected) => {
    service.next(list(rows))
    const { exit, out } = await api(['/users', ...flags])
    expect(exit).toBe(0)
    expect(out).toMatch(expected)
  })

  test('prints an error response unchanged, whatever the flags', async () => {
    service.next(json(404, { status: 'error', message: 'Not found' }))
    expect(await api(['/users', '--jq', '.data[]'])).toMatchObject({
      exit: 5,
      out: '{"status":"error","message":"Not found"}\n',
    })
  })

  test('rejects output flags for a response that is not JSON', async () => {
    service.next(page())
    expect(await api(['/users', '-o', 'json'])).toMatchObject({
      exit: 1,
      out: '',
      err: expect.stringContaining('The answer is not valid JSON'),
    })
  })

  test('reports a write and its secret even when an output flag fails', async () => {
    const made = { id: 5, key: 'svc_op_1a2b3c4d_secret' }
    service.next(list(made), list(made), page())
    const write = ['/svc/v1/keys', '-f', 'name=ci']
    expect(await api([...write, '--jq', '.data.id.x'])).toMatchObject({
      exit: 11,
      out: expect.stringContaining(made.key),
    })
    expect((await api([...write, '--jq', '.data.id'])).err).toContain(
      'Not printed, and never shown again: key',
    )
    expect(await api([...write, '--jq', '.data.id'])).toMatchObject({
      exit: 11,
      out: expect.stringContaining('<title>'),
    })
  })
})

const next = (query: string) => ({ link: `<${service.baseUrl}/users?${query}>; rel="next"` })

describe('svc api with a partial list', () => {
  test('prints on standard error how to get the rest', async () => {
    service.next(list([1, 2], next('cursor=a&limit=2')))
    const { exit, out, err } = await api(['/users?limit=2'])
    expect([exit, out]).toEqual([0, '{"status":"success","message":"Users","data":[1,2]}\n'])
    expect(err).toContain("More: svc api '/users?limit=2' --paginate\n")
  })

  test('prints no hint when the list is complete or the next page has another address', async () => {
    service.next(list([1]), list([1], { link: '<https://elsewhere.example/users?cursor=a>; rel="next"' }))
    expect((await api(['/users'])).err).toBe('')
    expect((await api(['/users'])).err).toBe('')
    service.next(list([1], next('cursor=a')), list([2]))
    expect((await api(['/users', '--paginate'])).err).toBe('')
  })
})

describe('svc api --paginate', () => {
  test('prints the rows of every page as one response', async () => {
    service.next(list([1, 2], next('cursor=a&limit=2')), list([3, 4], next('cursor=b&limit=2')), list([5]))
    const { out } = await api(['/users?limit=2', '--paginate'])
    expect(out).toBe('{"status":"success","message":"Users","data":[1,2,3,4,5]}\n')
    expect(service.seen.slice(-2).map(({ path }) => path)).toEqual([
      '/admin/public/api/users?cursor=a&limit=2',
      '/admin/public/api/users?cursor=b&limit=2',
    ])
    service.next(list([1], next('cursor=a')), list([2]))
    expect((await api(['/users', '--paginate', '--jq', '.data | length'])).out).toBe('2\n')
  })

  test('joins pages without an envelope, and stops when there is no next page or a page repeats', async () => {
    service.next(json(200, [1], next('page=2')), json(200, [2]))
    expect((await api(['/users', '--paginate'])).out).toBe('[1,2]\n')
    service.next(list([1], next('cursor=a')), list([2], next('cursor=a')))
    expect((await api(['/users', '--paginate', '--jq', '.data'])).out).toBe('[1,2]\n')
  })

  test('prints a response that is not a list as it is, and only the error if a page fails', async () => {
    service.next(list({ id: 1 }))
    expect((await api(['/users', '--paginate', '--jq', '.data.id'])).out).toBe('1\n')
    service.next(list([1], next('cursor=a')), json(403, { status: 'error', message: 'Not yours' }))
    expect(await api(['/users', '--paginate'])).toMatchObject({
      exit: 4,
      out: '{"status":"error","message":"Not yours"}\n',
    })
  })

  test('follows links to the same address only, and only for GET', async () => {
    service.next(list([1], { link: '<https://elsewhere.example/users?cursor=a>; rel="next"' }))
    expect((await api(['/users', '--paginate', '--jq', '.data'])).out).toBe('[1]\n')
    expect((await api(['/users', '--paginate', '-f', 'a=b'])).exit).toBe(2)
  })
})

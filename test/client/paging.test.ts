import { expect, test } from 'vitest'
import { linkedPage } from '../../src/client/paging.ts'
import { org } from '../../src/contract/org.ts'
import { json, type Answering } from '../fake-hosted.ts'
import { failure, withHosted } from './hosted.ts'

const rows = (data: unknown, link?: string): Answering =>
  json(200, { status: 'success', message: 'OK', data }, link === undefined ? {} : { link })
const path = '/admin/public/api/organizations'

test('pages are joined in order', async () => {
  const { client, service } = await withHosted()
  service.next(
    rows([1, 2], `<${path}?cursor=2>; rel="next"`),
    rows([3], `<${service.origin}${path}?cursor=3>; rel=next`),
    rows([4]),
  )
  expect((await client.call(org.listOrganizations, {})).envelope.data).toEqual([1, 2, 3, 4])
  expect(service.seen.map((request) => request.path)).toEqual([path, `${path}?cursor=2`, `${path}?cursor=3`])
})

test('a limit returns one page', async () => {
  const { client, service } = await withHosted()
  service.next(rows([1, 2], `<${path}?cursor=2>; rel="next"`))
  expect((await client.call(org.listOrganizations, { limit: 2 })).envelope.data).toEqual([1, 2])
  expect(service.seen).toHaveLength(1)
})

test('pages are returned one by one, whatever the size of a page', async () => {
  const { client, service } = await withHosted()
  service.next(rows([1, 2], `<${path}?limit=2&cursor=2>; rel="next"`), rows([3]))
  const pages = []
  for await (const { envelope } of client.pages(org.listOrganizations, { limit: 2 }))
    pages.push([envelope.data, service.seen.length])
  expect(pages).toEqual([
    [[1, 2], 1],
    [[3], 2],
  ])
})

test('a loop of pages ends', async () => {
  const { client, service } = await withHosted()
  service.next(
    rows([1], `<${path}?cursor=2>; rel="next"`),
    rows([2], `<${path}?cursor=1>; rel="next"`),
    rows([3], `<${path}?cursor=2>; rel="next"`),
  )
  expect((await client.call(org.listOrganizations, {})).envelope.data).toEqual([1, 2, 3])
})

test('a failed page fails the list', async () => {
  const { client, service } = await withHosted()
  service.next(rows([1], `<${path}?cursor=2>; rel="next"`), json(500, { status: 'error', message: 'No.' }))
  expect((await failure(client.call(org.listOrganizations, {}))).exit).toBe('failed')
})

const here = 'https://api.example/x/list?limit=1'
test.each([
  ['</x/list?cursor=2>; rel="next"', 'https://api.example/x/list?cursor=2'],
  ['<?cursor=2>;rel=next', 'https://api.example/x/list?cursor=2'],
  ['<?a=1>; rel="prev", <?a=3>; rel="next"; title="x"', 'https://api.example/x/list?a=3'],
  ['<https://evil.example/x/list?cursor=2>; rel="next"', undefined],
  ['<//evil.example/x/list>; rel="next"', undefined],
  ['<http://api.example/x/list?cursor=2>; rel="next"', undefined],
  ['<https://api.example:444/x/list?cursor=2>; rel="next"', undefined],
  ['<https://u@api.example/x/list?cursor=2>; rel="next"', undefined],
  ['</x/other?cursor=2>; rel="next"', undefined],
  ['<?limit=1>; rel="next"', undefined],
  ['<?cursor=2>; rel="nextish"', undefined],
  ['<?cursor=2>', undefined],
  ['<http://[>; rel="next"', undefined],
  ['', undefined],
  [undefined, undefined],
])('the Link %s leads to %s', (link, expected) => {
  expect(linkedPage(link, here)).toBe(expected)
})

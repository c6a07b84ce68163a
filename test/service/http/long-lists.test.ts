import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../harness.ts'

const count = 320

let service: TestService
beforeAll(async () => {
  service = await startTestService()
  for (let i = 1; i <= count; i++)
    await service.call('POST', '/organization/create', { body: { name: `Org ${i}` } })
})
afterAll(() => service.close())

const numbers = (rows: { id: number }[]): number[] => rows.map(({ id }) => id)
const linked = (link: string | undefined, rel: string): string | undefined =>
  new RegExp(`<([^>]+)>; rel="${rel}"`).exec(link ?? '')?.[1]

/** Follows `rel="next"` from here. */
const pagesFrom = async (start: string, headers: Record<string, string> = {}) => {
  const pages: { rows: { id: number; seq: number }[]; link: string | undefined }[] = []
  for (let path: string | undefined = start; path !== undefined;) {
    const answer = await service.call('GET', path.replace(/^http:\/\/[^/]+(?:\/admin\/public\/api)?/, ''), {
      headers,
    })
    pages.push({ rows: answer.body.data, link: answer.headers.link })
    path = linked(answer.headers.link, 'next')
  }
  return pages
}

describe('a long list', () => {
  test('is complete and in order without a limit, and links no page', async () => {
    const { body, headers } = await service.call('GET', '/organizations')
    expect(body).toMatchObject({ status: 'success', message: expect.any(String) })
    expect(numbers(body.data)).toEqual(Array.from({ length: count }, (_, i) => i + 1))
    expect(headers).not.toHaveProperty('link')
  })

  test('is read part by part, while the client reads it', async () => {
    const response = await service.app.request('http://127.0.0.1:8080/admin/public/api/organizations', {
      headers: { 'x-api-key': service.operatorKey },
    })
    const reader = response.body!.getReader()
    const first = new TextDecoder().decode((await reader.read()).value)
    expect(first.split('"slug"')).toHaveLength(100 + 1)
    // A row that is added meanwhile is in a later part.
    await service.call('POST', '/organization/create', { body: { name: 'Late' } })
    let rest = ''
    for (let part = await reader.read(); !part.done; part = await reader.read())
      rest += new TextDecoder().decode(part.value)
    const { data } = JSON.parse(first + rest) as { data: { id: number; name: string }[] }
    expect(data.at(-1)!.name).toBe('Late')
    await service.call('DELETE', `/organization/${data.at(-1)!.id}/delete`)
  })

  test('ends without an end when its key is revoked', async () => {
    const { body } = await service.call('POST', '/svc/v1/keys', { body: { name: 'short', scopes: ['read'] } })
    const response = await service.app.request('http://127.0.0.1:8080/admin/public/api/organizations', {
      headers: { 'x-api-key': body.data.key },
    })
    const reader = response.body!.getReader()
    await reader.read()
    expect((await service.call('DELETE', `/svc/v1/keys/${body.data.id}`)).status).toBe(200)
    await expect(reader.read()).rejects.toThrow('x-api-key')
    expect(service.log.at(-1)).toMatchObject({ level: 'error', message: 'A list ended before its end' })
  })

  test('comes in pages for a client that prefers them', async () => {
    const pages = await pagesFrom('/organizations', { prefer: 'respond-async, maxpagesize=150' })
    expect(pages.map(({ rows }) => rows.length)).toEqual([150, 150, 20])
    expect(numbers(pages.flatMap(({ rows }) => rows))).toEqual(Array.from({ length: count }, (_, i) => i + 1))
    for (const prefer of ['maxpagesize=0', 'maxpagesize=x', 'maxpagesize=10x', 'return=minimal'])
      expect(await pagesFrom('/organizations', { prefer })).toHaveLength(1)
  })
})

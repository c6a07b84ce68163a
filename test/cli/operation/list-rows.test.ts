import { describe, expect, test } from 'vitest'
import { joined, listPages } from '../../../src/cli/operation/list-rows.ts'
import { audit } from '../../../src/contract/audit.ts'
import { org } from '../../../src/contract/org.ts'
import { json } from '../../fake-hosted.ts'
import { withHosted } from '../../client/hosted.ts'

const { signal } = new AbortController()
const numbers = (from: number, count: number) => Array.from({ length: count }, (_, i) => ({ id: from + i }))

/** A service with `total` rows whose cursor is the number of earlier rows. */
const paging =
  (total: number, cursorName = 'cursor') =>
  async (
    ...[operation, input, options = {}]: [
      typeof org.listOrganizations | typeof audit.listAudit,
      object,
      object?,
    ]
  ) => {
    const { client, service } = await withHosted()
    service.always((request, response) => {
      const { pathname, searchParams } = new URL(request.path, service.origin)
      const from = Number(searchParams.get(cursorName) ?? 0)
      const preferred = /^maxpagesize=(\d+)$/.exec(String(request.headers.prefer))?.[1]
      const limit = Number(searchParams.get('limit') ?? preferred)
      const end = Math.min(from + limit, total)
      const link =
        end < total ? { link: `<${pathname}?limit=${limit}&${cursorName}=${end}>; rel="next"` } : undefined
      json(
        200,
        { status: 'success', message: 'OK', data: numbers(from, end - from) },
        link,
      )(request, response)
    })
    const { envelope, more } = await joined(
      listPages(operation, client, { input: { ...input }, options, signal }),
    )
    const limits = service.seen.map(({ path }) => new URL(path, service.origin).searchParams.get('limit'))
    return { rows: envelope.data as unknown[], more, limits }
  }

describe('the rows of a list', () => {
  test('are complete without a limit, and pages are preferred without a word in the query', async () => {
    const { rows, more, limits } = await paging(2500)(org.listOrganizations, {})
    expect([rows.length, more, limits]).toEqual([2500, undefined, [null, '1000', '1000']])
  })

  test('are limited across pages, and the next page is named', async () => {
    const { rows, more, limits } = await paging(9000)(org.listOrganizations, { limit: 2500 })
    expect(rows).toEqual(numbers(0, 2500))
    expect(more).toEqual({ cursor: '2500' })
    expect(limits).toEqual(['1000', '1000', '500'])
  })

  test('continue from a cursor to the end', async () => {
    const { rows, more } = await paging(12)(org.listOrganizations, { limit: 5, cursor: '10' })
    expect([rows, more]).toEqual([numbers(10, 2), undefined])
  })

  test('of a list by time are the newest, and all of them on request', async () => {
    expect(await paging(300)(audit.listAudit, {})).toMatchObject({ more: { cursor: '100' }, limits: ['100'] })
    const { rows, more, limits } = await paging(2500)(audit.listAudit, {}, { all: true })
    expect([rows.length, more, limits]).toEqual([2500, undefined, [null, '1000', '1000']])
  })

  test('are never truncated silently if the service ignores limits or names pages otherwise', async () => {
    const { client, service } = await withHosted()
    service.next(json(200, { status: 'success', message: 'OK', data: numbers(0, 3) }))
    const cut = await joined(
      listPages(org.listOrganizations, client, { input: { limit: 2 }, options: {}, signal }),
    )
    expect([cut.envelope.data, cut.more]).toEqual([numbers(0, 2), { cursor: undefined }])
    const { rows, more } = await paging(9, 'page')(org.listOrganizations, { limit: 3 })
    expect([rows, more]).toEqual([numbers(0, 3), { cursor: undefined }])
  })

  test.each([
    [{ limit: 0 }, {}, '--limit must be a whole number of 1 or more, not "0"'],
    [{ limit: 3 }, { all: true }, '--all cannot be combined with --limit'],
    [
      { since: '2030-01-02T00:00:00.000Z', until: '2030-01-01T00:00:00.000Z' },
      { since: '1h', until: '2d' },
      '--since 1h is not before --until 2d',
    ],
  ])('are not requested with %j and %j', async (input, options, message) => {
    const { client, service } = await withHosted()
    await expect(
      joined(listPages(audit.listAudit, client, { input, options, signal })),
    ).rejects.toMatchObject({
      exit: 'usage',
      message,
    })
    expect(service.seen).toEqual([])
  })
})

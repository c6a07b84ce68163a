import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cut, json, startFakeHosted, type Answering, type FakeHosted, type Seen } from '../../fake-hosted.ts'
import { openDesk, type Desk } from './desk.ts'

let service: FakeHosted
let desk: Desk
beforeEach(async () => {
  service = await startFakeHosted()
  desk = openDesk(service.baseUrl)
})
afterEach(async () => {
  await service.close()
  desk.close()
})

const created: Answering = (request, response) =>
  json(200, { status: 'success', message: 'OK', data: { id: Number(serialOf(request)) } })(request, response)
const refused = (status: number, headers: Record<string, string> = {}): Answering =>
  json(status, { status: 'error', message: `It says ${status}` }, headers)
const serialOf = ({ body }: Seen): string => (JSON.parse(body) as { mobile: string }).mobile.slice(-3)

const file = (count: number): void => {
  const rows = Array.from({ length: count }, (_, i) => `+12025550${100 + i},u${i}@b.cc,U,${i}`)
  desk.put('u.csv', `mobile,email,first_name,last_name\n${rows.join('\n')}\n`)
}
const posts = (): Seen[] => service.seen.filter(({ method }) => method === 'POST')
const plays = (
  answer: (serial: number) => Answering | undefined,
  health: Answering = json(200, { ok: true }),
): void =>
  service.always((request, response) => {
    const answering = request.path === '/health' ? health : (answer(Number(serialOf(request))) ?? created)
    return answering(request, response)
  })
const imports = (flags: string[] = [], options: { signal?: AbortSignal } = {}) =>
  desk.svc(['user', 'import', 'u.csv', '--org', '7', '--concurrency', '1', '-o', 'json', ...flags], options)
const failed = () => desk.lines('u.csv.results.ndjson').filter(({ status }) => status === 'failed')
const results = 'u.csv.results.ndjson'

/** An import that Ctrl-C ends while the request with this serial is on its way. */
const interruptAt = (serial: number, flags: string[] = []) => {
  const abort = new AbortController()
  plays((at) => {
    if (at === serial) abort.abort()
    return undefined
  })
  return imports(flags, { signal: abort.signal })
}

describe('a service that misbehaves', () => {
  test.each([
    ['answers 500', refused(500), 'http_500'],
    ['answers 422', refused(422), 'http_422'],
    ['cuts the connection', cut, 'connection_cut'],
    ['answers a page', json(502, 'x'), 'http_502'],
  ])('and %s fails that row alone', async (_, answer, code) => {
    file(3)
    plays((serial) => (serial === 101 ? answer : undefined))
    const { exit, out } = await imports()
    expect([exit, JSON.parse(out)]).toEqual([10, { created: 2, updated: 0, skipped: 0, failed: 1, results }])
    expect(failed()).toEqual([expect.objectContaining({ row: 3, error: expect.objectContaining({ code }) })])
  })

  test('and asks to wait is waited for: no row fails', async () => {
    file(3)
    const asked = new Set<number>()
    plays((serial) => {
      if (asked.has(serial)) return undefined
      asked.add(serial)
      return refused(429, { 'retry-after': '0' })
    })
    const { exit, err } = await imports()
    expect([exit, posts().map(serialOf)]).toEqual([0, ['100', '100', '101', '101', '102', '102']])
    expect(err).toContain('Rate limit: waiting 0 s')
  })

  test('and asks to wait for an hour ends the import, with the command that goes on', async () => {
    file(3)
    plays((serial) => (serial === 101 ? refused(429, { 'retry-after': '3600' }) : undefined))
    const { exit, err } = await imports()
    expect([exit, JSON.parse(err.trimEnd().split('\n').at(-1)!)]).toEqual([
      9,
      expect.objectContaining({
        code: 'http_429',
        message: 'Stopped; 1 of 3 rows are done. It says 429',
        hint: 'svc user import u.csv --org 7 --concurrency 1 -o json --resume continues',
      }),
    ])
  })

  test('and takes no key ends the import at once', async () => {
    file(50)
    plays(() => refused(401))
    expect((await imports()).exit).toBe(4)
    expect(posts()).toHaveLength(1)
    expect(failed()).toEqual([])
  })

  test('and fails again and again ends the import before every row has failed', async () => {
    file(100)
    plays((serial) => (serial > 102 ? refused(500) : undefined))
    const { exit, err } = await imports()
    expect([exit, err]).toEqual([1, expect.stringContaining('3 of 100 rows are done')])
    expect(failed()).toHaveLength(32)
  })

  test('and has its own word for who is there already is understood', async () => {
    file(1)
    plays(() => json(409, { status: 'error', message: 'No', data: { code: 'E1007' } }))
    const { exit, out } = await imports(['--on-conflict', 'skip'])
    expect([exit, JSON.parse(out)]).toEqual([0, expect.objectContaining({ skipped: 1 })])
  })

  test('and honours the key of a request is asked again after a cut', async () => {
    file(1)
    let cuts = 0
    plays(() => (cuts++ === 0 ? cut : undefined), json(200, { ok: true }, { 'svc-idempotency': '24h' }))
    expect((await imports()).exit).toBe(0)
    const keys = posts().map(({ headers }) => headers['idempotency-key'])
    expect(keys).toHaveLength(2)
    expect(keys[0]).toBe(keys[1])
  })
})

describe('an import that did not end', () => {
  test('ends cleanly at Ctrl-C: what is on its way is kept, and the command is told that goes on', async () => {
    file(5)
    const { exit, out, err } = await interruptAt(101)
    expect([exit, out]).toEqual([130, ''])
    expect(err).toContain('Finishing the requests in progress')
    expect(err).toContain('Interrupted; 2 of 5 rows are done')
    expect(err).toContain('svc user import u.csv --org 7 --concurrency 1 -o json --resume continues')
    expect(desk.lines(results).map(({ row }) => row)).toEqual([undefined, 2, 3])
  })

  test('goes on with what is missing and with what failed', async () => {
    file(5)
    const abort = new AbortController()
    plays((serial) => {
      if (serial === 102) abort.abort()
      return serial === 101 ? refused(422) : undefined
    })
    await imports([], { signal: abort.signal })
    service.seen.length = 0
    plays(() => undefined)
    const { exit, out } = await imports(['--resume'])
    expect([exit, JSON.parse(out)]).toEqual([0, { created: 5, updated: 0, skipped: 0, failed: 0, results }])
    expect(posts().map(serialOf)).toEqual(['101', '103', '104'])
  })

  test('says on a terminal that its counts include the earlier runs', async () => {
    file(3)
    await interruptAt(101)
    plays(() => undefined)
    const { exit, err } = await desk.svc(['user', 'import', 'u.csv', '--org', '7', '--resume'], { tty: true })
    expect([exit, err]).toEqual([0, expect.stringContaining('The counts include the earlier runs')])
  })

  test('is not started anew over its results', async () => {
    file(3)
    await interruptAt(101)
    const { exit, err } = await imports()
    expect([exit, err]).toEqual([
      2,
      expect.stringContaining(`${results} belongs to an import that did not finish`),
    ])
  })

  test('says the same Idempotency-Key for the row whose answer was lost', async () => {
    file(3)
    await interruptAt(101)
    const before = new Map(posts().map((request) => [serialOf(request), request.headers['idempotency-key']]))
    desk.put(results, desk.text(results).trimEnd().split('\n').slice(0, 2).join('\n') + '\n{"row":3,"mob')
    service.seen.length = 0
    await imports(['--resume'])
    expect(posts().map(serialOf)).toEqual(['101', '102'])
    expect(posts()[0]!.headers['idempotency-key']).toBe(before.get('101'))
    expect(desk.lines(results).map(({ row }) => row)).toEqual([undefined, 2, 3, 4, undefined])
  })

  test('goes on after the file was mended: rows are known by their number and not by their place', async () => {
    file(3)
    await interruptAt(101)
    service.seen.length = 0
    desk.put(
      'u.csv',
      'mobile,email,first_name,last_name\n+12025550199,a@b.cc,A,B\n+1 202 555 0100,a@b.cc,A,B\n',
    )
    plays(() => undefined)
    await imports(['--resume'])
    expect(posts().map(serialOf)).toEqual(['199'])
  })

  test.each([
    ['none is there', undefined, 'There is nothing to resume'],
    ['it is of another organization', { org_id: 8 }, 'belongs to another import: users into organization 8'],
    ['it is of another service', { service: 'https://elsewhere.example' }, 'belongs to another import'],
    ['it is of geo-fences', { import: 'fences' }, 'belongs to another import: fences'],
  ])('is not resumed when %s', async (_, other, said) => {
    file(3)
    const start = { event: 'start', import: 'users', service: service.origin, org_id: 7, run: 'r', ...other }
    if (other) desk.put(results, `${JSON.stringify(start)}\n`)
    const { exit, err } = await imports(['--resume'])
    expect([exit, err]).toEqual([2, expect.stringContaining(said)])
    expect(service.seen).toEqual([])
  })

  test.each(['hello\n', '{"mine":1}', '{"mine":1}\n'])(
    'leaves a file alone that holds %j',
    async (content) => {
      file(1)
      desk.put('mine.txt', content)
      const { exit, err } = await imports(['--results', 'mine.txt'])
      expect([exit, err]).toEqual([2, expect.stringContaining('mine.txt is not a result file of an import')])
      expect(desk.text('mine.txt')).toBe(content)
    },
  )
})

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

const record = (name: string) => ({ id: 1, name, latitude: 1, longitude: 2, radius: 3, is_active: 1 })

test('a fence whose answer was lost is not taken for a conflict', async () => {
  const start = { event: 'start', import: 'fences', service: service.origin, org_id: 7, run: 'r' }
  desk.put('f.ndjson.results.ndjson', `${JSON.stringify(start)}\n`)
  desk.put(
    'f.ndjson',
    '{"name":"F1","latitude":1,"longitude":2,"radius":3}\n{"name":"F2","latitude":1,"longitude":2,"radius":4}\n',
  )
  service.next(json(200, { status: 'success', message: 'OK', data: [record('F1'), record('F2')] }))
  const { exit, out } = await desk.svc([
    'geofence',
    'import',
    'f.ndjson',
    '--org',
    '7',
    '--resume',
    '-o',
    'json',
  ])
  expect([exit, JSON.parse(out)]).toEqual([
    10,
    expect.objectContaining({ created: 0, skipped: 1, failed: 1 }),
  ])
})

test('an export of what could not be imported again is refused', async () => {
  const { exit, out, err } = await desk.svc(['user', 'export', 'out.csv', '--org', '7'])
  expect([exit, out, err]).toEqual([1, '', expect.stringContaining('returned a user without mobile')])
  expect(desk.has('out.csv')).toBe(false)
})

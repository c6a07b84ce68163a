import { describe, expect, test } from 'vitest'
import { json } from '../../fake-hosted.ts'
import {
  workspace,
  file,
  imports,
  installHooks,
  respond,
  posts,
  refused,
  results,
  serialOf,
  service,
} from './one-import.ts'

installHooks()

/** Runs an import that Ctrl-C interrupts during the request with this serial number. */
const interruptAt = (serial: number, flags: string[] = []) => {
  const abort = new AbortController()
  respond((at) => {
    if (at === serial) abort.abort()
    return undefined
  })
  return imports(flags, { signal: abort.signal })
}

describe('an interrupted import', () => {
  test('finishes the requests in progress on Ctrl-C and prints the command that continues', async () => {
    file(5)
    const { exit, out, err } = await interruptAt(101)
    expect([exit, out]).toEqual([130, ''])
    expect(err).toContain('Finishing the requests in progress')
    expect(err).toContain('Interrupted; 2 of 5 rows are done')
    expect(err).toContain('svc user import u.csv --org 7 --concurrency 1 -o json --resume continues')
    expect(workspace.lines(results).map(({ row }) => row)).toEqual([undefined, 2, 3])
  })

  test('continues with the missing and the failed rows', async () => {
    file(5)
    const abort = new AbortController()
    respond((serial) => {
      if (serial === 102) abort.abort()
      return serial === 101 ? refused(422) : undefined
    })
    await imports([], { signal: abort.signal })
    service.seen.length = 0
    respond(() => undefined)
    const { exit, out } = await imports(['--resume'])
    expect([exit, JSON.parse(out)]).toEqual([0, { created: 5, updated: 0, skipped: 0, failed: 0, results }])
    expect(posts().map(serialOf)).toEqual(['101', '103', '104'])
  })

  test('says on a terminal that its counts include earlier runs', async () => {
    file(3)
    await interruptAt(101)
    respond(() => undefined)
    const { exit, err } = await workspace.svc(['user', 'import', 'u.csv', '--org', '7', '--resume'], {
      tty: true,
    })
    expect([exit, err]).toEqual([0, expect.stringContaining('The counts include earlier runs')])
  })

  test('does not start over on top of its results', async () => {
    file(3)
    await interruptAt(101)
    const { exit, err } = await imports()
    expect([exit, err]).toEqual([
      2,
      expect.stringContaining(`${results} belongs to an import that did not finish`),
    ])
  })

  test('sends the same Idempotency-Key for the row whose response was lost', async () => {
    file(3)
    await interruptAt(101)
    const before = new Map(posts().map((request) => [serialOf(request), request.headers['idempotency-key']]))
    workspace.put(
      results,
      workspace.text(results).trimEnd().split('\n').slice(0, 2).join('\n') + '\n{"row":3,"mob',
    )
    service.seen.length = 0
    await imports(['--resume'])
    expect(posts().map(serialOf)).toEqual(['101', '102'])
    expect(posts()[0]!.headers['idempotency-key']).toBe(before.get('101'))
    expect(workspace.lines(results).map(({ row }) => row)).toEqual([undefined, 2, 3, 4, undefined])
  })

  test('continues after the file was corrected, by phone number and not by position', async () => {
    file(3)
    await interruptAt(101)
    service.seen.length = 0
    workspace.put(
      'u.csv',
      'mobile,email,first_name,last_name\n+12025550199,a@b.cc,A,B\n+1 202 555 0100,a@b.cc,A,B\n',
    )
    respond(() => undefined)
    await imports(['--resume'])
    expect(posts().map(serialOf)).toEqual(['199'])
  })

  test.each([
    ['there are no results', undefined, 'There is nothing to resume'],
    ['it is of another organization', { org_id: 8 }, 'belongs to another import: users into organization 8'],
    ['it is of another service', { service: 'https://elsewhere.example' }, 'belongs to another import'],
    ['it is of geo-fences', { import: 'fences' }, 'belongs to another import: fences'],
  ])('is not resumed when %s', async (_, other, message) => {
    file(3)
    const start = { event: 'start', import: 'users', service: service.origin, org_id: 7, run: 'r', ...other }
    if (other) workspace.put(results, `${JSON.stringify(start)}\n`)
    const { exit, err } = await imports(['--resume'])
    expect([exit, err]).toEqual([2, expect.stringContaining(message)])
    expect(service.seen).toEqual([])
  })

  test.each(['hello\n', '{"mine":1}', '{"mine":1}\n'])(
    'does not overwrite a file that contains %j',
    async (content) => {
      file(1)
      workspace.put('mine.txt', content)
      const { exit, err } = await imports(['--results', 'mine.txt'])
      expect([exit, err]).toEqual([2, expect.stringContaining('mine.txt is not a result file of an import')])
      expect(workspace.text('mine.txt')).toBe(content)
    },
  )
})

const record = (name: string) => ({ id: 1, name, latitude: 1, longitude: 2, radius: 3, is_active: 1 })

test('a geofence whose response was lost is not a conflict', async () => {
  const start = { event: 'start', import: 'fences', service: service.origin, org_id: 7, run: 'r' }
  workspace.put('f.ndjson.results.ndjson', `${JSON.stringify(start)}\n`)
  workspace.put(
    'f.ndjson',
    '{"name":"F1","latitude":1,"longitude":2,"radius":3}\n{"name":"F2","latitude":1,"longitude":2,"radius":4}\n',
  )
  service.next(json(200, { status: 'success', message: 'OK', data: [record('F1'), record('F2')] }))
  const { exit, out } = await workspace.svc([
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

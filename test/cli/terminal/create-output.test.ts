import { describe, expect, test } from 'vitest'
import { createOutput } from '../../../src/cli/terminal/create-output.ts'
import { memoryIo } from '../memory-io.ts'
import { shown } from './show.ts'

const rows = [
  { id: 1, slug: 'acme', name: 'Acme Corp', tags: ['a', 'b'], policy: { device_trust: true }, ended: null },
  { id: 20, slug: 'umbrella', name: '日本語', tags: [], policy: {}, ended: null },
]
const shape = { columns: ['id', 'slug', 'name', 'ended'] }

describe('without -o', () => {
  test('a list is a table on a terminal, and TSV without a header in a pipe', async () => {
    expect(await shown(rows, {}, { shape })).toMatchObject({
      tty: 'ID  SLUG      NAME       ENDED\n1   acme      Acme Corp  -\n20  umbrella  日本語     -\n',
      piped: '1\tacme\tAcme Corp\t\n20\tumbrella\t日本語\t\n',
    })
  })
  test('a record has one line per field, and nested fields have a path', async () => {
    expect(await shown(rows[0])).toMatchObject({
      tty: [
        'id                   1',
        'slug                 acme',
        'name                 Acme Corp',
        'tags                 a, b',
        'policy.device_trust  true\n',
      ].join('\n'),
      piped: 'id\t1\nslug\tacme\nname\tAcme Corp\ntags\ta, b\npolicy.device_trust\ttrue\nended\t\n',
    })
  })
  test('an empty list is a note on a terminal, and nothing in a pipe', async () => {
    expect(await shown([])).toEqual({ tty: '', piped: '', ttyErr: 'Nothing found.\n' })
  })
  test('an empty list after a change is not reported as an empty search', async () => {
    const io = memoryIo({ tty: true })
    const run = { io, globals: {}, changed: true }
    await createOutput(run).show({ status: 'success', message: 'Replaced', data: [] })
    expect([io.out(), io.err()]).toEqual(['', ''])
  })
  test('a response without data is its message on a terminal, and its fields in a pipe', async () => {
    expect(await shown(undefined)).toMatchObject({ tty: 'Done\n', piped: 'status\tsuccess\nmessage\tDone\n' })
  })
  test('further fields beside the message are shown', async () => {
    const { tty } = await shown(undefined, {}, { extra: { ticket: 7 } })
    expect(tty).toBe('status   success\nmessage  Done\nticket   7\n')
  })
  test('columns that the server does not return are replaced by those that it does', async () => {
    const { piped } = await shown([{ code: 'x', deep: {} }], {}, { shape })
    expect(piped).toBe('x\n')
  })
  test('a list wider than the terminal is cut and never wrapped, and a record is complete', async () => {
    const long = { id: 1, slug: 'a', name: 'n'.repeat(90), ended: 'never' }
    const { tty } = await shown([long], {}, { shape, columns: 40 })
    expect(tty.split('\n')[1]).toBe(`1   a     ${'n'.repeat(22)}…  never`)
    const { tty: narrow } = await shown([long], {}, { shape, columns: 5 })
    expect(Math.max(...narrow.split('\n').map((line) => line.length))).toBeLessThanOrEqual(5)
    const { tty: record } = await shown(long, {}, { columns: 40 })
    expect(record).toContain('n'.repeat(90))
  })
})

describe('a table that is too wide', () => {
  const request = {
    request_id: 'apr_NR9kWDb-tRm4roPNVxYz0123',
    status: 'pending',
    action: 'Deploy 4.2 to production, all regions',
    approver_mobile: '+12025550101',
    requester: 'operator at build.example',
    expires_at: '2030-01-31T12:00:00.000Z',
  }
  const key = { id: '12', name: 'continuous-integration', prefix: 'svc_org_1a2b3c4d', kind: 'organization' }

  test.each([60, 100, 200])('keeps IDs complete at %i columns', async (columns) => {
    const shape = { columns: Object.keys(request) }
    const { tty } = await shown([request], {}, { shape, columns })
    expect(tty).toContain(request.request_id)
    expect(Math.max(...tty.split('\n').map((line) => line.length))).toBeLessThanOrEqual(columns)
    const keys = await shown([key], {}, { shape: { columns: Object.keys(key) }, columns: columns / 2 })
    expect(keys.tty).toContain(key.prefix)
  })
  test('drops the last columns before it cuts an ID', async () => {
    const shape = { columns: Object.keys(request) }
    const { tty } = await shown([request], {}, { shape, columns: 37 })
    expect(tty).toBe(`REQUEST_ID                    STATUS\n${request.request_id}  pending\n`)
  })
})

describe('-o', () => {
  const one = [{ id: 1, name: 'a\tb\nc\\', tags: ['x', 'y'], deep: { k: 1 }, none: null }]
  const cases: [string, string][] = [
    [
      'json',
      '[\n  {\n    "id": 1,\n    "name": "a\\tb\\nc\\\\",\n    "tags": [\n      "x",\n      "y"\n    ],\n    "deep": {\n      "k": 1\n    },\n    "none": null\n  }\n]\n',
    ],
    ['ndjson', '{"id":1,"name":"a\\tb\\nc\\\\","tags":["x","y"],"deep":{"k":1},"none":null}\n'],
    [
      'yaml',
      '- id: 1\n  name: |-\n    a\tb\n    c\\\n  tags:\n    - x\n    - y\n  deep:\n    k: 1\n  none: null\n',
    ],
    ['csv', 'id,name,tags,deep,none\n1,"a\tb\nc\\","x, y","{""k"":1}",\n'],
    ['tsv', '1\ta\\tb\\nc\\\\\t\n'],
    ['id', '1\n'],
  ]
  for (const [output, expected] of cases)
    test(`${output} is the same in a pipe and on a terminal`, async () => {
      const { tty, piped } = await shown(one, { output })
      expect(tty).toBe(piped)
      expect(piped).toBe(expected)
    })
  test('yaml parses to the same value', async () => {
    const { parse } = await import('yaml')
    expect(parse((await shown(one, { output: 'yaml' })).piped)).toEqual(one)
  })
  test('table is a table in a pipe too, as wide as necessary', async () => {
    const { piped } = await shown([{ id: 1, name: 'n'.repeat(200) }], { output: 'table' })
    expect(piped).toBe(`ID  NAME\n1   ${'n'.repeat(200)}\n`)
  })
  test('id fails if a row has none', async () => {
    await expect(shown([{ id: 1 }, { name: 'x' }], { output: 'id' })).rejects.toMatchObject({
      exit: 'failed',
      code: 'no_id',
    })
    await expect(shown(undefined, { output: 'id' })).rejects.toMatchObject({ code: 'no_id' })
    expect((await shown({ id: 'x7' }, { output: 'id' })).piped).toBe('x7\n')
  })
  test('json of a response without data is its status and message', async () => {
    const { piped } = await shown(undefined, { output: 'json' })
    expect(JSON.parse(piped)).toEqual({ status: 'success', message: 'Done' })
  })
  for (const globals of [{ output: 'xml' }, { output: 'table', jq: '.' }] as const)
    test(`${JSON.stringify(globals)} is a usage error`, async () => {
      await expect(shown([], globals)).rejects.toMatchObject({ exit: 'usage' })
    })
})

describe('--jq', () => {
  test('prints strings raw and everything else as JSON', async () => {
    expect((await shown(rows, { jq: '.[] | .slug, .id' })).piped).toBe('acme\n1\numbrella\n20\n')
  })
  test('accepts a filter that looks like a flag', async () => {
    expect((await shown({ a: 1 }, { jq: '-.a' })).piped).toBe('-1\n')
  })
})

const colours = async (tty: boolean, env: Record<string, string>, color?: boolean): Promise<boolean> => {
  const io = memoryIo({ tty, env })
  await createOutput({ io, globals: { output: 'table', color } }).show({
    status: 'success',
    message: '',
    data: rows,
  })
  return io.out().includes('\u001b[')
}

describe('colour', () => {
  const cases: [string, boolean, Record<string, string>, boolean | undefined, boolean][] = [
    ['a terminal has colours', true, {}, undefined, true],
    ['a pipe has none', false, {}, undefined, false],
    ['NO_COLOR turns it off', true, { NO_COLOR: '1' }, undefined, false],
    ['an empty NO_COLOR does not', true, { NO_COLOR: '' }, undefined, true],
    ['FORCE_COLOR turns it on in a pipe', false, { FORCE_COLOR: '1' }, undefined, true],
    ['FORCE_COLOR=0 turns it off', true, { FORCE_COLOR: '0' }, undefined, false],
    ['--no-color beats FORCE_COLOR', true, { FORCE_COLOR: '1' }, false, false],
    ['a dumb terminal has none', true, { TERM: 'dumb' }, undefined, false],
  ]
  for (const [title, tty, env, color, expected] of cases)
    test(`${title}`, async () => expect(await colours(tty, env, color)).toBe(expected))
})

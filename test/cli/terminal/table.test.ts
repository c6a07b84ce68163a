import { describe, expect, test } from 'vitest'
import { clockTime, relativeTime } from '../../../src/cli/terminal/relative-time.ts'
import { drawTable } from '../../../src/cli/terminal/table.ts'
import { shown } from './show.ts'

const now = new Date('2026-01-01T00:00:00.000Z')

describe('a time in a line', () => {
  test.each([
    ['2026-01-01T20:22:54.225Z', '20:22:54Z'],
    ['2025-12-31T23:59:59.999Z', '2025-12-31T23:59:59Z'],
    ['never', 'never'],
  ])('%s is %s', (text, expected) => {
    expect(clockTime(text, now)).toBe(expected)
  })
})

describe('a time in a list', () => {
  test.each([
    ['2025-12-31T23:59:50.000Z', 'just now'],
    ['2026-01-01T00:00:00Z', 'just now'],
    ['2026-01-01T00:00:59Z', 'in 59s'],
    ['2025-12-31T23:59:00.000Z', '1m ago'],
    ['2025-12-31T23:57:00.000Z', '3m ago'],
    ['2025-12-31T22:00:01.000Z', '1h ago'],
    ['2026-01-01T03:30:00.000Z', 'in 3h'],
    ['2026-01-01T01:00:00+02:00', '1h ago'],
    ['2025-12-25T00:00:00.000Z', '7d ago'],
    ['2025-12-02T00:00:00.000Z', '2025-12-02'],
    ['2030-01-31T09:00:00.000Z', '2030-01-31'],
    ['2026-13-01T00:00:00Z', '2026-13-01T00:00:00Z'],
    ['soon', 'soon'],
    ['', ''],
  ])('%s is %s', (text, expected) => {
    expect(relativeTime(text, now)).toBe(expected)
  })

  const at = '2025-12-31T23:57:00.000Z'

  test('is relative in a table on a terminal, in fields for times, and nowhere else', async () => {
    const rows = [{ id: 1, name: at, created_at: at, format: at }]
    expect(await shown(rows)).toMatchObject({
      tty: expect.stringContaining(`1   ${at}  3m ago      ${at}`),
      piped: `1\t${at}\t${at}\t${at}\n`,
    })
    for (const output of ['json', 'yaml', 'csv', 'tsv', 'ndjson'])
      expect((await shown(rows, { output })).tty).not.toContain('ago')
    expect((await shown(rows, { output: 'table' })).piped).not.toContain('ago')
  })

  test('is absolute in a record, and on a terminal without milliseconds', async () => {
    const inner = { use_by: at, name: at }
    const { tty, piped } = await shown({ created_at: at, inner, list: [{ at }] })
    const short = '2025-12-31T23:57:00Z'
    expect(tty).toBe(
      `created_at    ${short}\ninner.use_by  ${short}\ninner.name    ${at}\nlist[0].at    ${short}\n`,
    )
    expect(piped).toContain(`created_at\t${at}\n`)
  })
})

describe('a nested value', () => {
  const policy = { device_trust: true, factors: ['biometric', 'location'] }
  const fences = [
    { id: 4, name: 'HQ', places: [{ city: 'Berlin' }] },
    { id: 5, name: 'Lab', places: [] },
  ]

  test('is not left out of a list if it is a list of plain values, or empty', async () => {
    const rows = [{ id: 1, scopes: ['ask', 'read'], devices: [], policy: {} }]
    const { tty } = await shown(rows, {}, { columns: 200 })
    expect(tty).toBe('ID  SCOPES     DEVICES  POLICY\n1   ask, read  -        -\n')
  })

  test('is summarized in the cell of a list', async () => {
    const { tty, piped } = await shown([{ id: 1, policy, fences, odd: [{ x: [1] }] }], {}, { columns: 200 })
    expect(tty.split('\n')[1]!.split(/ {2,}/)).toEqual([
      '1',
      'device_trust=true, factors=biometric+location',
      'HQ, Lab',
      '1 item',
    ])
    expect(piped).toBe('1\n')
  })

  test('has one line per field in a record', async () => {
    const { tty, piped } = await shown({ id: 1, fences })
    expect(tty).toBe(
      [
        'id                        1',
        'fences[0].id              4',
        'fences[0].name            HQ',
        'fences[0].places[0].city  Berlin',
        'fences[1].id              5',
        'fences[1].name            Lab\n',
      ].join('\n'),
    )
    expect((await shown({ id: 1, fences }, {}, { shape: { folded: ['fences'] } })).tty).toBe('id  1\n')
    expect(piped).toBe(`id\t1\nfences\t${JSON.stringify(fences)}\n`)
  })

  test.each([60, 100, 200])('fits into %i columns as a list', async (columns) => {
    const { tty } = await shown([{ id: 1, policy, fences, name: 'n'.repeat(90) }], {}, { columns })
    expect(Math.max(...tty.split('\n').map((line) => line.length))).toBeLessThanOrEqual(columns)
  })
})

describe('CSV of an empty list', () => {
  test('has a header: the fields of the table, or the columns', async () => {
    const shape = { columns: ['id'], known: ['id', 'name'] }
    expect((await shown([], { output: 'csv' }, { shape })).piped).toBe('id,name\n')
    expect((await shown([], { output: 'csv' }, { shape: { columns: ['id'] } })).piped).toBe('id\n')
    expect((await shown([], { output: 'csv' })).piped).toBe('')
  })
})

const rowOf = (field: string, value: string, colour = true): string =>
  drawTable({ head: ['id', field], lines: [['1', value]] }, { width: 80, colour }).split('\n')[1]!

describe('a state', () => {
  test.each([
    ['status', 'approved', 32],
    ['state', 'pending', 33],
    ['result', 'FAIL', 31],
    ['status', 'denied', 31],
  ])('is coloured by what it means: %s %s', (field, value, code) => {
    expect(rowOf(field, value)).toBe(`1   \u001b[${code}m${value}\u001b[39m`)
    expect(rowOf(field, value, false)).toBe(`1   ${value}`)
    const record = drawTable({ lines: [[`user.${field}`, value]] }, { width: 80, colour: true })
    expect(record).toContain(`\u001b[${code}m${value}\u001b[39m`)
  })

  test.each([
    ['name', 'approved'],
    ['status', 'toString'],
    ['state', 'odd'],
  ])('is nothing else: %s %s', (field, value) => expect(rowOf(field, value)).toBe(`1   ${value}`))

  test('keeps its colour in a narrow column, and the next column its place', () => {
    const grid = { head: ['status', 'action'], lines: [['approved', 'Deploy']] }
    const line = drawTable(grid, { width: 12, colour: true }).split('\n')[1]!
    expect(line.replaceAll('\u001b', '')).toMatch(/^\[32m[a-z]+…?\[39m…? {2}De/)
  })
})

test('a head gives way before the content of a column, and a short word last', () => {
  const row = { rule: 'default', when: 'folder: drafts', timeout: '120', factors: 'biometric' }
  const grid = { head: Object.keys(row), lines: [Object.values(row)] }
  const drawn = (width: number) => drawTable(grid, { width, colour: false }).split('\n')
  expect(drawn(40)).toEqual([
    'RULE     WHEN            TIM…  FACTORS',
    'default  folder: drafts  120   biometric',
  ])
  expect(drawn(36)[1]).toBe('default  folder:…  120      biometr…')
})

import { expect, test } from 'vitest'
import type { Operation } from '../../../src/contract/operation.ts'
import { table } from '../../../src/contract/table.ts'
import { listTexts } from '../../../src/cli/approve/request-cells.ts'
import { shown } from './show.ts'

// `memoryIo` says that it is 2026-01-01T00:00:00Z.

const shape = {
  columns: ['request_id', 'status', 'action', 'approver_mobile', 'verified_as', 'expires_at'],
  wide: ['verified_as'],
}
const requests = [
  {
    request_id: 'apr_qUwKiR8OWEkuJdPbLuNG0zlu',
    status: 'approved',
    action: 'Terraform apply: 14 to add, 3 to change, 2 to destroy',
    approver_mobile: '+4915112345678',
    verified_as: 'key "operator"',
    expires_at: '2026-01-01T00:00:30.000Z',
  },
  {
    request_id: 'apr_s2FWWg1mKAf2z4na_TfNNXGu',
    status: 'pending',
    action: 'Restart billing',
    approver_mobile: '+12025550101',
    verified_as: 'key "ci"',
    expires_at: '2026-01-01T00:04:30.000Z',
  },
]
const masked = new Set(['approver_mobile'])

const cellsOf = (text: string): string[][] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/))

const at = async (columns: number, rows: unknown[], more: object): Promise<string[][]> => {
  const { tty } = await shown(rows, {}, { columns, shape: more })
  for (const line of tty.split('\n')) expect(line.length).toBeLessThanOrEqual(columns)
  return cellsOf(tty)
}

test('a narrow terminal leaves out a wide column, and cuts only text', async () => {
  expect(await at(80, requests, { ...shape, masked })).toEqual([
    ['REQUEST_ID', 'STATUS', 'ACTION', 'APPROVER_MOBI…', 'EXPIRES…'],
    ['apr_qUwKiR8OWEkuJdPbLuNG0zlu', 'approved', 'Terraform app…', '+49•••••••5678', 'in 30s'],
    ['apr_s2FWWg1mKAf2z4na_TfNNXGu', 'pending', 'Restart billi…', '+1••••••0101', 'in 4m'],
  ])
})

test('a list of requests shows what is asked and of whom, before the times', async () => {
  const { columns, wide } = table.listApprovals
  const people = [{ name: 'Grace Brewster Hopper', answer: 'pending' }]
  const rows = requests.map((row) => ({
    ...row,
    lines: [{ group: 'sre', need: 2, people, rules: [] }],
    detail: '0 of 2 approved; waiting for Grace Brewster Hopper',
  }))
  const list = async (width: number) => at(width, rows, { columns, wide, texts: listTexts })
  const [head, first] = await list(80)
  expect(head).toEqual(['REQUEST_ID', 'STATUS', 'ACTION', 'LINES'])
  expect(first!.slice(2)).toEqual(['Terraform apply: 14 to add, …', '2 of @sre'])
  expect((await list(60))[1]![2]).toBe('Terraform apply: 14…')
  expect((await list(110))[0]).toEqual([...head!, 'VERIFIED_AS', 'EXPIRES_AT'])
})

test('a person reads below the table which columns with a value it leaves out', async () => {
  const rows = requests.map((row) => ({ ...row, detail: null }))
  const columns = [...shape.columns, 'detail']
  const noted = (width: number) => shown(rows, {}, { columns: width, shape: { ...shape, columns, masked } })
  expect((await noted(80)).ttyErr).toBe('Left out: VERIFIED_AS. -o json shows everything\n')
  expect((await noted(40)).ttyErr).toBe(
    'Left out: ACTION, APPROVER_MOBILE,\nVERIFIED_AS, EXPIRES_AT. -o json shows\neverything\n',
  )
  const all = await noted(130)
  expect([all.tty.split('\n')[0], all.ttyErr]).toEqual([expect.not.stringContaining('DETAIL'), ''])
})

test('a column without a value is left out before anything is cut', async () => {
  const row = { id: 1, org_id: null, name: 'local', scopes: 'ask, read, people' }
  const [head] = await at(32, [row], { columns: Object.keys(row) })
  expect(head).toEqual(['ID', 'NAME', 'SCOPES'])
})

test('a terminal that has room for every column shows every column', async () => {
  const [head, first] = await at(130, requests, { ...shape, masked })
  expect(head).toHaveLength(6)
  expect(first![4]).toBe('key "operator"')
})

test('a very narrow terminal keeps the id and the text, instead of parts of everything', async () => {
  expect((await at(60, requests, shape)).map((cells) => cells.slice(0, 3))).toEqual([
    ['REQUEST_ID', 'STATUS', 'ACTION'],
    ['apr_qUwKiR8OWEkuJdPbLuNG0zlu', 'approved', 'Terraform apply: 14…'],
    ['apr_s2FWWg1mKAf2z4na_TfNNXGu', 'pending', 'Restart billing'],
  ])
})

test('a column without a value is left out first, and an address is not cut while others can go', async () => {
  const row = {
    webhook_id: 'wh_BEMDqSM3DA3CaGzM',
    url: 'https://hooks.acme.example/svc/approvals',
    types: [],
    waiting: 12,
    error: 'it could not be reached: ECONNREFUSED',
  }
  const columns = Object.keys(row)
  const [head, cells] = await at(94, [row], { columns })
  expect(head).toEqual(['WEBHOOK_ID', 'URL', 'WAITING', 'ERROR'])
  expect(cells![1]).toBe(row.url)
  expect((await at(94, [{ ...row, types: ['key'] }], { columns, wide: ['waiting'] }))[0]).toEqual([
    'WEBHOOK_ID',
    'URL',
    'TYPES',
    'ERROR',
  ])
})

test('pipes and other formats keep every column', async () => {
  const options = { columns: 60, shape }
  const { piped } = await shown(requests, {}, options)
  expect(piped.split('\n')[0]!.split('\t')).toEqual(Object.values(requests[0]!))
  for (const output of ['csv', 'tsv', 'json', 'yaml', 'ndjson'])
    expect((await shown(requests, { output }, options)).tty).toContain('operator')
})

test('the columns that a list can leave out are columns of it, and never the first one', () => {
  for (const { cli, columns = [], wide = [] } of Object.values(table as Record<string, Operation>))
    for (const name of wide) expect([cli, columns.indexOf(name) > 0]).toEqual([cli, true])
})

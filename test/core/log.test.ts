import { expect, test } from 'vitest'
import { createLog, type LogRecord } from '../../src/core/log.ts'

const record: LogRecord = {
  at: '2030-01-01T12:34:56.789Z',
  level: 'error',
  request_id: 'req_1',
  method: 'GET',
  route: '/organizations',
  status: 500,
  ms: 1.5,
  key: 'ci',
  error: 'it said svc_op_0123abcd_abcDEF-_123 to me',
}

const written = (...records: LogRecord[]) =>
  new Promise<string>((resolve) => {
    const log = createLog(resolve)
    for (const one of records) log(one)
  })

test('a record is one line of JSON, without the secret part of a key', async () => {
  const line = await written(record)
  expect(JSON.parse(line)).toEqual({ ...record, error: 'it said svc_op_0123abcd_*** to me' })
})

test('simultaneous records are written together, one line each', async () => {
  const lines = (await written(record, { ...record, error: 'two\nlines' })).split('\n')
  expect(lines.map((line) => JSON.parse(line).error)).toEqual([
    'it said svc_op_0123abcd_*** to me',
    'two\nlines',
  ])
})

test('a record is readable on a terminal', async () => {
  const line = await new Promise<string>((resolve) =>
    createLog(resolve, true)({ ...record, key: 'c\u202ei' }),
  )
  expect(line).toBe(
    '12:34:56 error 500 GET /organizations 1.5 ms c\\u{202e}i req_1 it said svc_op_0123abcd_*** to me',
  )
})

import { expect, test } from 'vitest'
import { typedSeconds, typedTime } from '../../../src/cli/operation/typed-time.ts'

const now = new Date('2030-01-31T12:00:00.000Z')

test.each([
  ['90s', '2030-01-31T11:58:30.000Z'],
  ['30m', '2030-01-31T11:30:00.000Z'],
  ['2h', '2030-01-31T10:00:00.000Z'],
  ['3d', '2030-01-28T12:00:00.000Z'],
  ['1w', '2030-01-24T12:00:00.000Z'],
  ['2030-01-30', '2030-01-30T00:00:00.000Z'],
  ['2030-01-30T08:15', '2030-01-30T08:15:00.000Z'],
  ['2030-01-30 08:15:30', '2030-01-30T08:15:30.000Z'],
  ['2030-01-30T08:15:30.5Z', '2030-01-30T08:15:30.500Z'],
  ['2030-01-30T08:15+0200', '2030-01-30T06:15:00.000Z'],
])('%s is %s', (typed, expected) => {
  expect(typedTime('since', typed, 'past', now)).toBe(expected)
})

test.each([
  ['12h', '2030-02-01T00:00:00.000Z'],
  ['30d', '2030-03-02T12:00:00.000Z'],
  ['2030-02-28', '2030-02-28T00:00:00.000Z'],
  ['2030-02-28T08:15+01:00', '2030-02-28T07:15:00.000Z'],
])('%s in the future is %s', (typed, expected) => {
  expect(typedTime('expires', typed, 'future', now)).toBe(expected)
})

test('a number of seconds can be typed with a unit', () => {
  expect(['90', '90s', '5m', '1h', '7d', '1y', '1.5h'].map(typedSeconds)).toEqual([
    '90',
    '90',
    '300',
    '3600',
    '604800',
    '1y',
    '1.5h',
  ])
})

test('lists the accepted formats of a future time', () => {
  expect(() => typedTime('expires', 'soon', 'future', now)).toThrow(
    expect.objectContaining({
      message: '--expires is not a valid time: "soon"',
      hint: '--expires 12h, --expires 30d (units: s, m, h, d, w), --expires 2030-01-31 or --expires 2030-01-31T18:00:00Z',
    }),
  )
})

test.each([
  'yesterday',
  '',
  '2',
  'h',
  '-1h',
  '1.5h',
  '12345d',
  '2030-02-30',
  '2030-01-31T25:00',
  '31.01.2030',
  '1M',
])('%j is rejected by the name of its flag', (typed) => {
  expect(() => typedTime('since', typed, 'past', now)).toThrow(`--since is not a valid time: "${typed}"`)
})

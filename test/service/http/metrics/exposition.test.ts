import { expect, test } from 'vitest'
import { createEventCounts } from '../../../../src/service/http/metrics/event-counts.ts'
import { exposition, gauge } from '../../../../src/service/http/metrics/exposition.ts'
import { createHistogram } from '../../../../src/service/http/metrics/event-counts.ts'

test('writes the text format of Prometheus', () => {
  const labels = { a: 'back\\slash "quotes"\nline' }
  expect(
    exposition([
      gauge('svc_up', 'Whether it is up.', 1),
      { name: 'svc_things_total', type: 'counter', help: 'Things.', samples: [{ labels, value: 2 }] },
    ]),
  ).toBe(
    [
      '# HELP svc_up Whether it is up.',
      '# TYPE svc_up gauge',
      'svc_up 1',
      '# HELP svc_things_total Things.',
      '# TYPE svc_things_total counter',
      String.raw`svc_things_total{a="back\\slash \"quotes\"\nline"} 2`,
      '',
    ].join('\n'),
  )
})

test('a histogram counts each value at its bound and above', () => {
  const histogram = createHistogram([1, 5])
  for (const value of [0.5, 1, 3, 9]) histogram.observe(value)
  expect(
    histogram.samples({ route: '/' }).map(({ suffix, labels, value }) => [suffix, labels?.le, value]),
  ).toEqual([
    ['_bucket', '1', 2],
    ['_bucket', '5', 3],
    ['_bucket', '+Inf', 4],
    ['_sum', undefined, 13.5],
    ['_count', undefined, 4],
  ])
})

test('counts the methods that nobody uses as one, so that a client cannot add series', () => {
  const { route, families } = createEventCounts()
  const observe = route('-')
  for (const method of ['PROPFIND', 'MKCOL', 'LOCK', 'GET']) observe(method, 404, 1)
  const [requests] = families()
  expect(requests!.samples).toEqual([
    { labels: { method: 'other', route: '-', status: '404' }, value: 3 },
    { labels: { method: 'GET', route: '-', status: '404' }, value: 1 },
  ])
})

import { expect, test } from 'vitest'
import { createWriteProbe } from '../../../src/service/storage/write-probe.ts'

test('tries one write at a time, and no more than one in two seconds', async () => {
  let time = 0
  let writes = 0
  let fails = false
  const canWrite = createWriteProbe(
    async () => {
      writes++
      if (fails) throw new Error('disk full')
    },
    () => 0,
    () => time,
  )
  expect(await Promise.all([canWrite(), canWrite(), canWrite()])).toEqual([true, true, true])
  fails = true
  time = 1_999
  expect([await canWrite(), writes]).toEqual([true, 1])
  time = 2_000
  expect([await canWrite(), await canWrite(), writes]).toEqual([false, false, 2])
  fails = false
  time = 4_000
  expect([await canWrite(), writes]).toEqual([true, 3])
})

test('believes a small write no longer once the disk has refused one of the service', async () => {
  let time = 0
  let failures = 0
  let room = 'none'
  const tried: boolean[] = []
  const canWrite = createWriteProbe(
    async (thorough) => {
      tried.push(thorough)
      if (!thorough || room === 'enough') return
      failures++
      throw new Error('disk full')
    },
    () => failures,
    () => time,
  )
  expect(await canWrite()).toBe(true)
  failures++
  expect([await canWrite(), tried]).toEqual([false, [false]])
  time = 2_000
  expect([await canWrite(), tried]).toEqual([false, [false, true]])
  time = 4_000
  room = 'enough'
  expect([await canWrite(), tried]).toEqual([true, [false, true, true]])
  time = 6_000
  expect([await canWrite(), tried]).toEqual([true, [false, true, true, false]])
})

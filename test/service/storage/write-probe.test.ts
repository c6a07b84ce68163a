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

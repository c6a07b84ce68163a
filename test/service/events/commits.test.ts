import { expect, test } from 'vitest'
import { createCommits } from '../../../src/service/events/commits.ts'

test('a commit wakes those who wait for its organization or for all, and nobody else', async () => {
  const commits = createCommits()
  const woken: string[] = []
  const wait = (name: string, org: number): Promise<void> =>
    commits.next(org, 10_000, undefined).then(() => void woken.push(name))
  const others = wait('of 1', 1)
  commits.listen(() => woken.push('all'))
  const own = wait('of 2', 2)
  commits.announce(2)
  commits.announce(3)
  await own
  expect(woken.toSorted()).toEqual(['all', 'of 2'])
  commits.stop()
  await others
  expect(woken).toContain('of 1')
})

import { Refusal } from '../../core/refusal.ts'
import { createTally } from '../../core/tally.ts'

/** Lists that a key reads at the same time. Each has a part in memory as long as its client reads. */
const openAtMost = 50

/** Counts the lists that each key reads. Throws 429 `too_many_lists`; the result ends one. */
export const createOpenLists = () => {
  const open = createTally<number>()
  return (keyId: number): (() => void) => {
    if (open.of(keyId) >= openAtMost)
      throw new Refusal(429, 'too_many_lists', `This key is already reading ${openAtMost} lists`, {
        hint: 'Read the answers, then try again',
        headers: { 'retry-after': '1' },
      })
    open.add(keyId)
    return () => open.remove(keyId)
  }
}
export type OpenLists = ReturnType<typeof createOpenLists>

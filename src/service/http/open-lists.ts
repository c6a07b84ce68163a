import { Refusal } from '../../core/refusal.ts'

/** Lists that a key reads at the same time. Each has a part in memory as long as its client reads. */
const openAtMost = 50

/** Counts the lists that each key reads. Throws 429 `too_many_lists`; the result ends one. */
export const createOpenLists = () => {
  const open = new Map<number, number>()
  return (keyId: number): (() => void) => {
    const count = open.get(keyId) ?? 0
    if (count >= openAtMost)
      throw new Refusal(429, 'too_many_lists', `This key is already reading ${openAtMost} lists`, {
        hint: 'Read the answers, then try again',
        headers: { 'retry-after': '1' },
      })
    open.set(keyId, count + 1)
    return () => {
      const others = open.get(keyId)! - 1
      if (others === 0) open.delete(keyId)
      else open.set(keyId, others)
    }
  }
}
export type OpenLists = ReturnType<typeof createOpenLists>

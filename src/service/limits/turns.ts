import { createTurnQueue } from '../../core/turn-queue.ts'

/** Work for `of`, an organization for example. Resolves with the result of the work. */
export type Turns = <T>(of: unknown, work: () => Promise<T>) => Promise<T>

/**
 * Runs short pieces of work, at most `atOnce` together: those of each organization in turn, and everything else that the
 * process has to do in between.
 */
export const createTurns = (atOnce: number): Turns => {
  const waiting = createTurnQueue<() => Promise<void>>()
  let running = 0

  const start = (): void => {
    while (running < atOnce) {
      const work = waiting.next()
      if (!work) return
      running += 1
      void work().finally(() => setImmediate(ended))
    }
  }
  const ended = (): void => {
    running -= 1
    start()
  }

  return (of, work) =>
    new Promise((resolve, reject) => {
      waiting.add(of, () => work().then(resolve, reject))
      start()
    })
}

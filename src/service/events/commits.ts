import type { Commits } from '../call/service.ts'
import type { Storage } from '../storage/storage.ts'

/** Commits that are this close together, in milliseconds, wake listeners once. */
const togetherMs = 20

/** Wakes whoever waits for the next row of an audit. */
export const createCommits = (): Commits => {
  const listeners = new Set<() => void>()
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  const wake = (): void => {
    timer = undefined
    for (const listener of listeners) listener()
  }

  return {
    announce: () => void (timer ??= setTimeout(wake, togetherMs).unref()),
    listen: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    next: (ms, signal) =>
      new Promise((resolve) => {
        if (stopped || signal?.aborted) return resolve()
        const end = (): void => {
          clearTimeout(limit)
          listeners.delete(end)
          signal?.removeEventListener('abort', end)
          resolve()
        }
        const limit = setTimeout(end, ms)
        listeners.add(end)
        signal?.addEventListener('abort', end)
      }),
    stop: () => {
      stopped = true
      wake()
    },
    get stopped() {
      return stopped
    },
  }
}

/** A store that announces each commit that appended to an audit. */
export const announceCommits = (storage: Storage, { announce }: Pick<Commits, 'announce'>): Storage => ({
  ...storage,
  write: async (work, options) => {
    const result = await storage.write(work, options)
    if (options.org !== null) announce()
    return result
  },
})

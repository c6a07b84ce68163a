import type { Commits } from '../call/service.ts'
import type { Storage } from '../storage/storage.ts'

/** Commits that are this close together, in milliseconds, wake listeners once. */
const togetherMs = 20

/** Wakes whoever waits for the next row of an audit. */
export const createCommits = (): Commits => {
  /** With the organization whose commits they want to hear of; undefined for all. */
  const listeners = new Map<() => void, number | undefined>()
  const announced = new Set<number>()
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  const wake = (): void => {
    timer = undefined
    const heard = [...listeners].filter(([, org]) => stopped || org === undefined || announced.has(org))
    announced.clear()
    for (const [listener] of heard) listener()
  }

  return {
    announce: (org) => {
      announced.add(org)
      timer ??= setTimeout(wake, togetherMs).unref()
    },
    listen: (listener, org) => {
      listeners.set(listener, org)
      return () => void listeners.delete(listener)
    },
    next: (org, ms, signal) =>
      new Promise((resolve) => {
        if (stopped || signal?.aborted) return resolve()
        const end = (): void => {
          clearTimeout(limit)
          listeners.delete(end)
          signal?.removeEventListener('abort', end)
          resolve()
        }
        const limit = setTimeout(end, ms)
        listeners.set(end, org)
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
    if (options.org !== null) announce(options.org)
    return result
  },
})

import { setTimeout as wait } from 'node:timers/promises'
import { interrupted } from './errors.ts'

export const sleepFor = async (ms: number, signal?: AbortSignal): Promise<void> => {
  try {
    await wait(ms, undefined, { signal })
  } catch {
    throw interrupted()
  }
}

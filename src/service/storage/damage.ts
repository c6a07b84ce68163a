import { Refusal } from '../../core/refusal.ts'
import type { Storage } from './storage.ts'

const code = 'store_damaged'

/** What the engine found is no store any more, or not all of one. */
export const damaged = (cause: unknown): Refusal =>
  new Refusal(503, code, 'The store is damaged; nothing was changed', {
    hint: 'Its operator must stop the service and restore the last backup: svc service restore',
    cause,
  })

type Report = (message: string, level: 'warn') => void

/**
 * Refuses everything once the engine, or the check whose `damage` this is, has found damage, until the process ends: what it
 * still reads could be wrong, and a write could make it worse. Reports what was found.
 */
export const stopAtDamage = (
  engine: Omit<Storage, 'problem'>,
  canWrite: () => Promise<boolean>,
  { report, damage }: { report: Report | undefined; damage?: Promise<Error> | undefined },
): Storage => {
  let found: Refusal | undefined
  const stop = (refusal: Refusal): void => {
    if (found === undefined) report?.(`The store is damaged: ${(refusal.cause as Error).message}`, 'warn')
    found ??= refusal
  }
  void damage?.then((cause) => stop(damaged(cause)))
  const guard = async <T>(run: () => Promise<T>): Promise<T> => {
    if (found) throw damaged(found.cause)
    try {
      return await run()
    } catch (error) {
      if (error instanceof Refusal && error.code === code) stop(error)
      throw error
    }
  }
  return {
    ...engine,
    read: (work) => guard(() => engine.read(work)),
    write: (work, options) =>
      guard(async () => {
        const { org } = options
        // Not each engine needs it.
        if (org !== null && (!Number.isSafeInteger(org) || org < 0))
          throw new Error('A write names no organization')
        return engine.write(work, options)
      }),
    problem: async () => {
      const writable = found === undefined && (await canWrite())
      if (found !== undefined) return code
      return writable ? undefined : 'storage_unavailable'
    },
  }
}

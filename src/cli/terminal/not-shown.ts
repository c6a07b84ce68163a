import { SvcError } from '../../core/errors.ts'
import type { Run } from './run.ts'

const lost = (run: Run, why: string, hint: string): SvcError =>
  new SvcError(
    'notShown',
    'not_shown',
    `svc ${run.command?.words ?? ''} was carried out, but its answer could not be shown: ${why}`,
    { hint },
  )

/** Something was changed, and what it answered cannot be shown as asked: it is on standard output as JSON. */
export const notShownAsAsked = (run: Run, error: unknown): SvcError =>
  lost(
    run,
    error instanceof Error ? error.message : String(error),
    'The whole answer is on standard output as JSON. Do not run the command again to see it',
  )

const whys: Record<string, string> = {
  EPIPE: 'nobody reads standard output',
  EBADF: 'standard output is closed',
}

/** Standard output cannot be written. Undefined where its reader has seen enough, as `head` has, and nothing is lost. */
export const unwritable = (run: Run, code: string): SvcError | undefined => {
  const { once, changed, io } = run
  // One that is closed looks like one that was closed on purpose.
  if ((code === 'EPIPE' || code === 'EBADF') && !(changed && once)) return undefined
  const why = whys[code] ?? `standard output cannot be written (${code})`
  if (!changed) return new SvcError('failed', 'system', `The answer could not be shown: ${why}`)
  if (once === undefined) return lost(run, why, 'Do not run the command again to see it')
  if (io.stderr.isTTY) {
    io.stderr.write(once)
    return lost(run, why, 'It is shown above, and never again')
  }
  return lost(
    run,
    why,
    run.lostHint ?? 'The secret in it is lost: delete, revoke or replace what was created',
  )
}

/** The secrets that are nowhere in what was printed, by the names of their fields. */
export const unprinted = (data: unknown, once: ReadonlySet<string>, text: string): string[] => {
  if (typeof data !== 'object' || data === null) return []
  const inside = Object.entries(data).flatMap(([name, value]) =>
    once.has(name) && typeof value === 'string' && value !== '' && !text.includes(value)
      ? [name]
      : unprinted(value, once, text),
  )
  return [...new Set(inside)]
}

/** Fails where what was created should have come with a secret, and did not: nobody can show it later. */
export const requireSecrets = (run: Run, data: unknown, once: ReadonlySet<string>): void => {
  if (unprinted(data, once, '').length > 0) return
  throw new SvcError(
    'notShown',
    'no_secret',
    `svc ${run.command?.words ?? ''}: the service reported success and returned no ${[...once].join(', ')}`,
    { hint: 'It may have been created: delete, revoke or replace it' },
  )
}

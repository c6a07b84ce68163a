import { SvcError } from '../../core/errors.ts'

export const states = ['ok', 'note', 'warn', 'fail'] as const

/** What was looked at and how it stands. `next`: the command to type, or what to do. */
export type Finding = {
  check: string
  state: (typeof states)[number]
  message: string
  next?: string
}

export const ok = (check: string, message: string): Finding => ({ check, state: 'ok', message })
export const note = (check: string, message: string, next?: string): Finding => ({
  check,
  state: 'note',
  message,
  next,
})
export const warn = (check: string, message: string, next: string): Finding => ({
  check,
  state: 'warn',
  message,
  next,
})
export const fail = (check: string, message: string, next?: string): Finding => ({
  check,
  state: 'fail',
  message,
  next,
})

/** What failed, with the hint that it came with. What is no failure of ours goes on. */
export const failed = (check: string, error: unknown, next?: string): Finding => {
  if (!(error instanceof SvcError) || error.exit === 'interrupted') throw error
  const { message, detail, hint } = error
  return fail(check, detail ? `${message} (${detail})` : message, hint ?? next)
}

import { SvcError } from '../../core/errors.ts'

export const states = ['ok', 'note', 'warn', 'fail'] as const

/** What was looked at and how it stands. `next`: the command to type, or what to do. */
export type Finding = {
  check: string
  state: (typeof states)[number]
  message: string
  next?: string | undefined
}

const finding =
  (state: Finding['state']) =>
  (check: string, message: string, next?: string): Finding => ({ check, state, message, next })

export const ok: (check: string, message: string) => Finding = finding('ok')
export const note = finding('note')
export const warn: (check: string, message: string, next: string) => Finding = finding('warn')
export const fail = finding('fail')

/** What failed, with the hint that it came with. What is no failure of ours goes on. */
export const failed = (check: string, error: unknown, next?: string): Finding => {
  if (!(error instanceof SvcError) || error.exit === 'interrupted') throw error
  const { message, detail, hint } = error
  return fail(check, detail ? `${message} (${detail})` : message, hint ?? next)
}

import { SvcError } from '../../core/errors.ts'
import { isUnsupported } from '../context/own-key.ts'

/** The result of a check. `next`: the command to type, or what to do. */
export type Finding = {
  check: string
  state: 'ok' | 'note' | 'warn' | 'fail'
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

/** The same for one check. */
export const about = (check: string) => ({
  ok: (message: string) => ok(check, message),
  note: (message: string, next?: string) => note(check, message, next),
  warn: (message: string, next: string) => warn(check, message, next),
  fail: (message: string, next?: string) => fail(check, message, next),
})

/** A failure with its hint. Throws everything that is not an error of svc, and Ctrl-C. */
export const failed = (check: string, error: unknown, next?: string): Finding => {
  if (!(error instanceof SvcError) || error.exit === 'interrupted') throw error
  const { message, detail, issues = [], hint } = error
  const said = [
    detail ? `${message} (${detail})` : message,
    ...issues.map((one) => `${one.field} ${one.message}`),
  ]
  return fail(check, said.join('; '), hint ?? next)
}

/** Runs a check that a third-party service may not support, and for which this key may lack the scope. */
export const tryCheck = async (
  check: string,
  { unsupported, scopeMissing }: { unsupported: Finding[]; scopeMissing: string },
  run: () => Promise<Finding[]>,
): Promise<Finding[]> => {
  try {
    return await run()
  } catch (error) {
    if (isUnsupported(error)) return unsupported
    if (error instanceof SvcError && error.code === 'scope_missing') return [note(check, scopeMissing)]
    return [failed(check, error)]
  }
}

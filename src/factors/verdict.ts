export const factors = ['biometric', 'location', 'time', 'device', 'ip'] as const
export type Factor = (typeof factors)[number]

export type Result = 'PASS' | 'FAIL' | 'NOT_APPLICABLE' | 'INSUFFICIENT_DATA'

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** The result of one rule. `reason` is for people; `expected` and `observed` are for programs, and null if there are none. */
export type Verdict = { result: Result; reason: string; expected: Json; observed: Json }

const verdict =
  (result: Result) =>
  (reason: string, expected: Json = null, observed: Json = null): Verdict => ({
    result,
    reason,
    expected,
    observed,
  })

export const pass = verdict('PASS')
export const fail = verdict('FAIL')

/** The factor is not configured or not requested. */
export const notApplicable = (reason: string): Verdict => verdict('NOT_APPLICABLE')(reason)

/** The evidence is missing, stale or unreadable. If the factor is required, the decision turns it into FAIL. */
export const cannotTell = (reason: string): Verdict => verdict('INSUFFICIENT_DATA')(reason)

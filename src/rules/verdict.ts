export const factors = ['biometric', 'location', 'time', 'device', 'ip'] as const
export type Factor = (typeof factors)[number]

export type Result = 'PASS' | 'FAIL' | 'NOT_APPLICABLE' | 'INSUFFICIENT_DATA'

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** What one rule says. `reason` is for a person; `expected` and `observed` are for a machine, null where there is nothing. */
export type Verdict = { result: Result; reason: string; expected: Json; observed: Json }

export const pass = (reason: string, expected: Json, observed: Json): Verdict => ({
  result: 'PASS',
  reason,
  expected,
  observed,
})

export const fail = (reason: string, expected: Json, observed: Json): Verdict => ({
  result: 'FAIL',
  reason,
  expected,
  observed,
})

/** No policy stands behind the factor. */
export const notApplicable = (reason: string): Verdict => ({
  result: 'NOT_APPLICABLE',
  reason,
  expected: null,
  observed: null,
})

/** The evidence is missing, stale or unreadable. Where the factor is enforced, the decision makes it a FAIL. */
export const cannotTell = (reason: string): Verdict => ({
  result: 'INSUFFICIENT_DATA',
  reason,
  expected: null,
  observed: null,
})

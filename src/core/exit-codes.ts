/** The one table of exit codes: `svc help exit-codes` prints it, errors are mapped through it. */
export const exits = {
  done: [0, 'done'],
  failed: [1, 'failed'],
  usage: [2, 'usage: a flag, argument or value is wrong or missing, found by svc or by the service'],
  refused: [3, 'refused by the service: a conflict or a rule (400, 409, 413, 415, 422)'],
  forbidden: [4, 'not authenticated or not allowed (401, 403)'],
  notFound: [5, 'not found (404)'],
  denied: [6, 'denied by the approver'],
  expired: [7, 'expired (410)'],
  pending: [8, 'pending: no decision yet'],
  unreachable: [9, 'unreachable, timed out or limited (429)'],
  partial: [10, 'drift, or a part of the work failed'],
  notShown: [11, 'done, but the answer could not be shown as requested'],
  notExecutable: [126, 'approve run, guard exec: the command cannot be executed'],
  noCommand: [127, 'approve run, guard exec: the command was not found'],
  interrupted: [130, 'interrupted'],
} as const satisfies Record<string, readonly [number, string]>

export type Exit = keyof typeof exits

export const exitCode = (exit: Exit): number => exits[exit][0]

/** `data.code` of an answer takes precedence over its HTTP status. */
const byCode: Record<string, Exit> = {
  // The same mistake has the same exit code, whichever side finds it.
  invalid_field: 'usage',
  nothing_to_change: 'usage',
  malformed: 'usage',
  denied: 'denied',
  expired: 'expired',
  pending: 'pending',
}

const byStatus: Record<number, Exit> = {
  400: 'refused',
  401: 'forbidden',
  403: 'forbidden',
  404: 'notFound',
  405: 'refused',
  409: 'refused',
  410: 'expired',
  413: 'refused',
  415: 'refused',
  422: 'refused',
  429: 'unreachable',
}

/** The exit code for an answer of the service: by `data.code`, then by HTTP status. */
export const exitOfAnswer = (status: number, code?: string): Exit =>
  (code === undefined ? undefined : byCode[code]) ?? byStatus[status] ?? 'failed'

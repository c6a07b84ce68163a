import * as z from 'zod/mini'
import { operations } from './declaration.ts'
import { chosen, id, nullable, optional } from './field.ts'
import { givesChallenge, moment, orgOfKey, signedChallenge, time } from './records.ts'

// When a person is away, under /svc/v1. spec: not shown

/** Half-open: away at `from`, back at `until`. */
export const interval = z.strictObject({
  from: chosen(time, 'When the person leaves'),
  until: chosen(time, 'When the person is back'),
})

const wanted = {
  user_id: optional(
    id,
    'User who is away; default: the signed-in person. For somebody else, an administrator can set at most three days',
    { example: '7', flag: 'user' },
  ),
  from: optional(moment, 'When the person leaves; default: now', {
    example: '2030-02-01',
    future: true,
  }),
  until: optional(moment, 'When the person is back, at most 30 days after they leave', {
    example: '2030-02-14',
    future: true,
    unless: 'end',
  }),
  end: optional(z.boolean(), 'The person is back, or does not leave'),
}
export const absence = nullable(interval, 'When the user is away; null if they are not')
const data = z.looseObject({ user_id: chosen(id, 'User id'), away: absence })

export const away = operations({
  setAway: {
    route: 'POST /svc/v1/away',
    cli: 'user away',
    // Everybody who is signed in can, and signs it.
    scope: ['ask', 'read'],
    summary:
      'Set when you are away: groups notify you only if too few others are there, and nobody can ask you alone',
    message: 'Absence changed',
    example: '--until 2030-02-14',
    input: z.strictObject({ org_id: orgOfKey, ...wanted }),
    data,
  },
  getAway: {
    route: 'GET /svc/v1/approver/away',
    summary: 'Show when the signed-in person or, for an administrator, another member is away',
    message: 'Absence',
    input: z.strictObject({ user_id: wanted.user_id }),
    data,
  },
  beginAway: {
    route: 'POST /svc/v1/approver/away/challenge',
    ...givesChallenge,
    summary: 'Get a challenge for setting when a person is away',
    input: z.strictObject(wanted),
  },
  signAway: {
    route: 'POST /svc/v1/approver/away',
    summary: 'Set when a person is away, signed by the device of the session',
    message: 'Absence changed',
    input: z.strictObject({ ...wanted, ...signedChallenge }),
    data,
  },
})

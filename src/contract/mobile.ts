import * as z from 'zod/mini'
import { chosen, id, line, shown } from './field.ts'
import { operations } from './operation.ts'
import { time } from './records.ts'

export const mobile = operations({
  saveFaceauthSuccess: {
    method: 'GET',
    path: '/save/faceauth/success/{auth_token}',
    cli: 'mobile faceauth-success',
    // A token is no argument: it would stand in the list of processes.
    args: [],
    // It spends the token, whatever the method says.
    effect: 'write',
    summary: 'Record a successful face authentication by the caller; spends the token',
    message: 'Face authentication recorded',
    example: '--auth-token-file token.txt',
    input: z.strictObject({
      auth_token: shown(line(200), 'Token of `svc auth token`', { secret: true }),
    }),
    data: z.looseObject({
      user_id: chosen(id, 'Who was verified'),
      request_id: chosen(z.string(), 'Request id of the verification'),
      source: chosen(z.literal('caller'), 'The word of the caller, which nothing proves'),
      recorded_at: chosen(time, 'When it was recorded'),
    }),
  },
})

import * as z from 'zod/mini'
import { chosen } from './field.ts'
import { operations } from './declaration.ts'
import { givesChallenge, signedChallenge } from './records.ts'

// The device confirms its session on the approver page, under /svc/v1/approver. They are not commands for people. spec: not shown

export const pageConfirmation = operations({
  beginConfirmation: {
    route: 'POST /svc/v1/approver/confirmation/challenge',
    ...givesChallenge,
    summary: 'Get a challenge to confirm this session with its device',
    data: z.extend(givesChallenge.data, {
      rp_id: chosen(z.string(), 'Relying party id'),
      credential_id: chosen(z.string(), 'Id of the credential of the device'),
    }),
  },
  confirmSession: {
    route: 'POST /svc/v1/approver/confirmation',
    summary: 'Confirm this session for five minutes with an assertion of its device; sets the cookie anew',
    message: 'Session confirmed',
    input: z.strictObject(signedChallenge),
  },
})

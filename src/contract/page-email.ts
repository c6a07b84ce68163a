import * as z from 'zod/mini'
import { operations } from './declaration.ts'
import { chosen, line } from './field.ts'

// The link in an e-mail that verifies its address, under /svc/v1/approver. Not commands for people. spec: not shown

const token = chosen(line(100), 'Token of the link', { secret: true })

export const pageEmail = operations({
  readEmailLink: {
    route: 'POST /svc/v1/approver/email-verification/address',
    open: true,
    effect: 'read',
    summary: 'Show the e-mail address that a link would verify',
    message: 'E-mail address',
    input: z.strictObject({ token }),
    data: z.looseObject({ email: chosen(z.string(), 'The address', { personal: true }) }),
  },
  verifyEmail: {
    route: 'POST /svc/v1/approver/email-verification',
    open: true,
    summary: 'Verify an e-mail address with the token of its link; the token works once',
    message: 'E-mail address confirmed',
    input: z.strictObject({ token }),
  },
})

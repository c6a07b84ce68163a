/** In its own file, because the command line needs the states without a validator. */
export const approvalStates = ['pending', 'approved', 'denied', 'expired'] as const

/** What the table of one request omits: `lines` says who was asked, and who answered; the number is only of the first. */
export const foldedInRequest = ['approver_mobile', 'ruling', 'attestation', 'subject']

/** In its own file, because the command line needs the states without a validator. */
export const approvalStates = ['pending', 'approved', 'denied', 'expired'] as const

/** How the detail of a withdrawn request begins. */
export const withdrawnMark = 'withdrawn'

/** Whether the requester ended it, not the time. */
export const isWithdrawn = ({ status, detail }: { status?: unknown; detail?: unknown }): boolean =>
  status === 'expired' && typeof detail === 'string' && detail.startsWith(`${withdrawnMark} `)

/** How the detail of a request begins whose approval the factors refused. */
export const refusedMark = 'refused by the rules'

/** Whether somebody approved and was refused: their answer counts as a denial. */
export const isRefused = ({ status, detail }: { status?: unknown; detail?: unknown }): boolean =>
  status === 'denied' && typeof detail === 'string' && detail.startsWith(`${refusedMark}: `)

/** What the table of one request omits: `lines` says who was asked, and who answered; the number is only of the first. */
export const foldedInRequest = ['approver_mobile', 'ruling', 'attestation', 'subject']

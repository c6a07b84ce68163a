/** In its own file, because the command line needs the states without a validator. */
export const approvalStates = ['pending', 'approved', 'denied', 'expired'] as const

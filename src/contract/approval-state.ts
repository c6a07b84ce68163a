/** In a file of its own: the command line needs the words, and no validator. */
export const approvalStates = ['pending', 'approved', 'denied', 'expired'] as const

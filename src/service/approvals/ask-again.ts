/** The hint of an answer after which only a new request helps. */
export const askAgain = 'Request a new approval: svc approve request'

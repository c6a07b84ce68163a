/** The changes of a member that an administrator makes on the approver page, and the command that each equals. */
export const commandsOfMoves = {
  accept: 'user pending accept',
  reject: 'user pending reject',
  hold: 'user pending hold',
  promote: 'user make-admin',
  link: 'user enroll',
} as const

export const memberMoves = Object.keys(commandsOfMoves) as (keyof typeof commandsOfMoves)[]

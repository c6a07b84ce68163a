import { fieldsIn } from '../../client/answer-data.ts'
import { auth } from '../../contract/auth.ts'
import { SvcError } from '../../core/errors.ts'
import { extended } from '../operation/operation-command.ts'

/** A plain operation of the specification, whose answer is only a status and a message. */
export const verifications = extended([auth.validateAuth], (context) => ({
  check: (answer, { request_id }) => {
    const { request_id: named } = fieldsIn(answer)
    if (typeof named !== 'string' || request_id === undefined || named === request_id) return
    throw new SvcError('failed', 'unexpected_answer', 'The service answered about another verification', {
      detail: 'Whether the person approved is unknown. This is not an approval.',
    })
  },
  afterShown: async ({ envelope }) => {
    const { request_id }: Record<string, unknown> = fieldsIn({ envelope })
    if (typeof request_id === 'string') return
    ;(await context.output()).warn(
      'The answer names no verification, so it does not prove that the person approved; svc approve request does',
    )
  },
}))

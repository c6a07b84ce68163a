import { fieldsIn } from '../../client/answer-data.ts'
import { auth } from '../../contract/auth.ts'
import type { Operation } from '../../contract/operation.ts'
import { SvcError } from '../../core/errors.ts'
import type { Extension, Extensions } from '../operation/operation-command.ts'

const aboutAnother = (): SvcError =>
  new SvcError('failed', 'unexpected_answer', 'The service answered about another verification', {
    detail: 'Whether the person approved is unknown. This is not an approval.',
  })

/** A plain operation of the specification, whose answer is only a status and a message. */
const validate: Extension = (command, context) =>
  void command.action(async () => {
    const { runOperation } = await import('../operation/run-operation.ts')
    let isNamed = true
    await runOperation(auth.validateAuth, { args: command.args, options: command.opts() }, context, {
      check: (answer, { request_id }) => {
        const { request_id: named } = fieldsIn(answer)
        isNamed = typeof named === 'string'
        if (isNamed && request_id !== undefined && named !== request_id) throw aboutAnother()
      },
    })
    if (!isNamed)
      (await context.output()).warn(
        'The answer names no verification, so it does not prove that the person approved; svc approve request does',
      )
  })

export const verifications: Extensions = new Map<Operation, Extension>([[auth.validateAuth, validate]])

import { fieldsIn } from '../../client/answer-data.ts'
import { webhook } from '../../contract/webhook.ts'
import { exitCode } from '../../core/exit-codes.ts'
import type { Extensions } from '../operation/operation-command.ts'

/** `svc webhook test`: fails if the receiver did not accept the event. */
export const webhookTest: Extensions = new Map([
  [
    webhook.testWebhook,
    (command, context) =>
      void command
        .addHelpText(
          'after',
          '\nExits with 0 if the receiver accepted the event with a status of 2xx, otherwise 1.',
        )
        .action(async () => {
          const { runOperation } = await import('../operation/run-operation.ts')
          await runOperation(webhook.testWebhook, { args: command.args, options: command.opts() }, context, {
            afterShown: (answer) => {
              if (fieldsIn(answer).delivered !== true) context.exitCode = exitCode('failed')
            },
          })
        }),
  ],
])

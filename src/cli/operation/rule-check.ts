import type { Command } from 'commander'
import type { Operation } from '../../contract/operation.ts'
import { exitCode } from '../../core/exit-codes.ts'
import type { Context } from '../context/context.ts'
import { runOperation } from './run-operation.ts'

/** `svc geofence check`, `svc timeslot check`: from the table, and an exit code for scripts: 1 where it would not pass. */
export const registerRuleCheck =
  (operation: Operation) =>
  (group: Command, context: Context): void => {
    const command = group.commands.find((one) => one.name() === 'check')!
    command.addHelpText('after', '\nExits with 0 if it passes and with 1 if it does not.').action(() =>
      runOperation(operation, { args: command.args, options: command.opts() }, context, {
        look: (data) => {
          const { result } = (data ?? {}) as { result?: unknown }
          if (result !== 'PASS' && result !== 'NOT_APPLICABLE') context.exitCode = exitCode('failed')
        },
      }),
    )
  }

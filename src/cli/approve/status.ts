import type { Command } from 'commander'
import { approval } from '../../contract/approval.ts'
import type { Context } from '../context.ts'
import { showRuling } from './ending.ts'

/** `svc approve status`: from the table, and of a request that the rules refused what each of them found. */
export const registerStatus = (group: Command, context: Context): void => {
  const command = group.commands.find((one) => one.name() === 'status')!
  command.action(async () => {
    const { runOperation } = await import('../run-operation.ts')
    let data: unknown
    const typed = { args: command.args, options: command.opts<Record<string, unknown>>() }
    await runOperation(approval.getApproval, typed, context, (seen) => (data = seen))
    await showRuling(context, data)
  })
}

import type { Command } from 'commander'
import { approval } from '../../contract/approval.ts'
import type { Operation } from '../../contract/operation.ts'
import { SvcError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import type { Typed } from './by-tools.ts'

const byTools = () => import('./by-tools.ts')

/** Commands of the table that a tool server can serve too, each by its last word. */
const commands: Record<string, [Operation, (typed: Typed, context: Context) => Promise<void>]> = {
  submit: [approval.createApproval, async (...call) => (await byTools()).submitByTools(...call)],
  status: [approval.getApproval, async (...call) => (await byTools()).statusByTools(...call)],
  list: [approval.listApprovals, async (...call) => (await byTools()).listByTools(...call)],
  cancel: [approval.cancelApproval, async (typed) => (await byTools()).cancelByTools(typed)],
}

const aboutOneRequest = new Set<Operation>([approval.getApproval, approval.cancelApproval])

/** A state is one of the request that was asked about, or it is not shown: a script would take it for the decision. */
const requireAbout = (data: unknown, asked: unknown): void => {
  const { request_id, status } = (data ?? {}) as { request_id?: unknown; status?: unknown }
  if (request_id === asked && typeof status === 'string') return
  throw new SvcError('failed', 'unexpected_answer', 'The service did not answer about this request', {
    detail: 'The decision is unknown. This is not an approval.',
    hint: 'svc profile show --explain shows the address in use',
  })
}

const byService = async (operation: Operation, typed: Typed, context: Context): Promise<void> => {
  const [{ runOperation }, { showBelow }] = await Promise.all([
    import('../operation/run-operation.ts'),
    import('./messages.ts'),
  ])
  let data: unknown
  await runOperation(operation, typed, context, {
    look: (seen) => (data = seen),
    check: aboutOneRequest.has(operation)
      ? (seen, { request_id }) => requireAbout(seen, request_id)
      : undefined,
  })
  // What exactly is asked, and of a request that the rules refused what each of them found.
  if (operation === approval.getApproval) await showBelow(context, data)
}

/** `svc approve submit|status|list|cancel`: through the REST API, or where it has no approvals or --mcp says so, the tools. */
export const registerEitherWay = (group: Command, context: Context): void => {
  for (const [word, [operation, tools]] of Object.entries(commands)) {
    const command = group.commands.find((one) => one.name() === word)!
    command.option('--mcp', 'ask the tool server at SVC_MCP_URL').action(async () => {
      const typed = { args: command.args, options: command.opts<Record<string, unknown>>() }
      if (typed.options.mcp) return tools(typed, context)
      try {
        await byService(operation, typed, context)
      } catch (error) {
        const { lacksApprovals, noApprovals } = await import('./no-approvals.ts')
        if (!(await lacksApprovals(error, context))) throw error
        const settings = await context.settings()
        if (!settings.mcpUrl) throw noApprovals(error as SvcError, settings)
        await tools(typed, context)
      }
    })
  }
}

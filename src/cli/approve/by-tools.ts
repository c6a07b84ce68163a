import { statusIn } from '../../tools/client/tool-answer.ts'
import { maybeNotified } from '../../asking/outcome.ts'
import { approval } from '../../contract/approval.ts'
import { fieldsOf } from '../../contract/describe.ts'
import type { Operation } from '../../contract/operation.ts'
import { usageError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { optionKey } from '../operation/flags.ts'
import type { Typed } from '../program/define-command.ts'
import { gatherAsk, showAskDryRun } from './ask.ts'
import { openBackend } from './open-backend.ts'
import { openRemembered, withTools } from './tool-server.ts'

// `svc approve` through the three tools. A tool server can neither list nor withdraw requests.

/** Rejects flags of the REST API that no tool supports, instead of ignoring them. */
const requireOnly = (operation: Operation, { options }: Typed, taken: readonly string[]): void => {
  const flags = fieldsOf(operation).map(({ flag }) => flag)
  const stray = flags.find((flag) => !taken.includes(flag) && options[optionKey(flag)] !== undefined)
  if (stray !== undefined)
    throw usageError(`--${stray} cannot be used with a tool server`, `svc ${operation.cli} --help`)
}

/** Requests an approval with `request_approval_async`. */
export const submitByTools = async (typed: Typed, context: Context): Promise<void> => {
  requireOnly(approval.createApproval, typed, ['to', 'reason', 'factors', 'default-factors', 'requester'])
  const asking = { ...typed, options: { ...typed.options, mcp: true } }
  const ask = await gatherAsk(approval.createApproval, asking, context)
  if (typed.options.dryRun) return showAskDryRun(approval.createApproval, { ask, mcp: true }, context)
  const output = await context.output()
  const backend = await openBackend(context, { through: 'tools', requester: ask.requester, open: true })
  try {
    const record = await backend.request(ask).catch((error: unknown) => {
      throw maybeNotified(error, backend)
    })
    const { request_id, status, action, approver_mobile, expires_at, number } = record
    await output.report(
      'Approval requested',
      { request_id, status, action, approver_mobile, expires_at, ...(number !== null && { number }) },
      { masked: new Set(['approver_mobile']) },
    )
  } finally {
    await backend.close()
  }
}

/** Shows the answer of `check_status` together with what this machine remembers of the request. */
export const statusByTools = async (typed: Typed, context: Context): Promise<void> => {
  const [id] = typed.args
  if (id === undefined) throw usageError('Missing <request-id>', 'svc approve status <request-id> --mcp')
  requireOnly(approval.getApproval, typed, [])
  const output = await context.output()
  await withTools(context, async ({ url, tools }) => {
    const answer = await tools.call('check_status', { request_id: id })
    const status = statusIn(answer, id)
    const known = (await openRemembered(context, url)).find(id)
    await output.report(
      'Approval',
      { request_id: id, ...known, ...answer, status },
      { masked: new Set(['approver_mobile']), folded: ['attestation'] },
    )
  })
}

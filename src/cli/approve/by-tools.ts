import { statusIn } from '../../tools/client/tool-answer.ts'
import { maybeNotified } from '../../asking/outcome.ts'
import { approval, type ApprovalRecord } from '../../contract/approval.ts'
import { fieldsOf } from '../../contract/describe.ts'
import type { Operation } from '../../contract/operation.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { optionKey, type Typed } from '../operation/flags.ts'
import { gatherAsk, showAskDryRun } from './ask.ts'
import { openBackend } from './open-backend.ts'

import { openRemembered, withTools, type Remembered } from './tool-server.ts'

// `svc approve` through the three tools. A tool server cannot list or withdraw requests, so svc remembers its own.

/** Rejects flags of the REST API that no tool supports, instead of ignoring them. */
const requireOnly = (operation: Operation, { options }: Typed, taken: readonly string[]): void => {
  const flags = [...fieldsOf(operation).map(({ flag }) => flag), 'all', 'follow']
  const stray = flags.find((flag) => !taken.includes(flag) && options[optionKey(flag)] !== undefined)
  if (stray !== undefined)
    throw usageError(`--${stray} cannot be used with a tool server`, `svc ${operation.cli} --help`)
}

const requireId = ({ args }: Typed, words: string): string => {
  const [id] = args
  if (id === undefined) throw usageError('Missing <request-id>', `svc ${words} <request-id> --mcp`)
  return id
}

/** Requests an approval with `request_approval_async`. */
export const submitByTools = async (typed: Typed, context: Context): Promise<void> => {
  requireOnly(approval.createApproval, typed, ['to', 'reason', 'factors', 'default-factors', 'requester'])
  const asking = { ...typed, options: { ...typed.options, mcp: true } }
  const { ask } = await gatherAsk(approval.createApproval, asking, context)
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
  const id = requireId(typed, 'approve status')
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

type Row = Omit<Remembered, 'status'> & { status: ApprovalRecord['status'] | 'unknown' }

/** The requests that this profile made through the tool server, with the state that `check_status` reports. */
export const listByTools = async (typed: Typed, context: Context): Promise<void> => {
  requireOnly(approval.listApprovals, typed, ['status'])
  const output = await context.output()
  await withTools(context, async ({ url, tools }) => {
    const rows = (await openRemembered(context, url))
      .all()
      .map((one): Row => Object.assign({ status: 'unknown' as const }, one))
    await inParallel(rows, context.io.signal, async (row) => {
      try {
        row.status = statusIn(
          await tools.call('check_status', { request_id: row.request_id }),
          row.request_id,
        )
      } catch (error) {
        // A server forgets requests. One that cannot be reached is an error.
        const unclear = error instanceof SvcError && ['tool_error', 'unexpected_answer'].includes(error.code)
        if (!unclear) throw error
      }
    })
    const { status } = typed.options
    const data = rows.filter((row) => status === undefined || row.status === status)
    await output.report('Requests that this machine made through the tool server', data, {
      columns: ['request_id', 'status', 'action', 'approver_mobile', 'expires_at'],
    })
  })
}

/** No tool withdraws a request. */
export const cancelByTools = async (typed: Typed): Promise<never> => {
  requireId(typed, 'approve cancel')
  throw usageError(
    'A tool server cannot withdraw a request',
    'It expires at its expires_at; svc approve status <request-id> --mcp shows its state',
  )
}

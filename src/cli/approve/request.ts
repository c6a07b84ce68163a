import type { Terms } from '../../asking/ask.ts'
import type { Backend } from '../../asking/backend.ts'
import type { Use } from '../../asking/proof.ts'
import type { ApprovalRecord } from '../../contract/approval.ts'
import type { Ask } from '../../contract/approval-gateway.ts'
import { SvcError } from '../../core/errors.ts'
import { exitCode } from '../../core/exit-codes.ts'
import { exitOfState } from '../../asking/outcome.ts'
import { safeJson } from '../../core/safe-text.ts'
import { checkShown } from '../operation/run-operation.ts'
import type { Context } from '../context/context.ts'
import { defineCommand } from '../program/define-command.ts'
import { askFlags, defaultSeconds, gatherAsk, requestOperation, showAskDryRun } from './ask.ts'
import { interruptedWait, showDecision, unboundNote } from './messages.ts'
import { reserveFile } from '../terminal/output-file.ts'
import { submitAsking } from './demanded.ts'

type Options = { receipt?: string; org?: string; mcp?: boolean; dryRun?: boolean } & Record<string, unknown>

/** Prints a warning if the receipt would not prove the approval to somebody else. */
const warnOfReceipt = async (
  record: ApprovalRecord,
  use: Use,
  backend: Backend,
  context: Context,
): Promise<void> => {
  try {
    await backend.prove(record, use)
  } catch (error) {
    if (!(error instanceof SvcError) || error.exit === 'interrupted') throw error
    const why = error.code === 'receipt_not_valid' ? error.detail : error.message
    ;(await context.output()).warn(`svc approve verify would not accept the receipt. ${why ?? ''}`.trimEnd())
  }
}

/** `svc approve request`: requests an approval, waits, and exits with the decision. */
export const registerRequest = defineCommand<Options>({
  name: 'request',
  summary:
    'Request an approval and wait for the decision: exit 0 approved, 6 denied, 7 expired, 8 still pending',
  usage: '<action> [flags]',
  args: ['[action]'],
  options: {
    ...askFlags(requestOperation),
    '--receipt <file>': 'New file for the signed receipt',
    '--mcp': 'Use the tool server at SVC_MCP_URL; --timeout then limits the wait only',
    '--dry-run': 'Print the request and send nothing',
  },
  note: 'In a hook of an agent, end it with "|| exit 2": most hooks block on exit 2 only.',
  examples: [`svc approve request ${requestOperation.example}`],
  scope: 'ask',
  hasId: true,
  action: async (typed, context) => {
    const { options } = typed
    const { io } = context
    const { createProgress } = await import('./progress.ts')
    if (!options.dryRun) {
      await checkShown(requestOperation, context)
      // If the receipt cannot be written, nobody is notified.
      if (options.receipt !== undefined) reserveFile(options.receipt, 'receipt', io).giveUp()
    }
    const output = await context.output()
    const request = await gatherAsk(requestOperation, typed, context)
    if (options.dryRun) return showAskDryRun(requestOperation, { ask: request, mcp: options.mcp }, context)
    const { ask } = await import('../../asking/ask.ts')
    const { NotApproved } = await import('../../asking/outcome.ts')
    const { openBackend } = await import('./open-backend.ts')
    const { approvers, ...wanted } = request
    const { lifetime_s: seconds = defaultSeconds } = wanted
    const backend = await openBackend(context, {
      through: options.mcp ? 'tools' : undefined,
      org: options.org,
      requester: wanted.requester,
      open: true,
      mostSeconds: seconds,
    })
    const progress = createProgress(context, backend)
    let file: ReturnType<typeof reserveFile> | undefined
    let kept = false
    let asked: { request: Ask; id: string } | undefined
    const submit: Terms['submit'] = async (input, send) => {
      const pending = await submitAsking(requestOperation, context)(input, send)
      asked = { request: input, id: pending.request_id }
      context.changed = true
      return pending
    }
    try {
      if (options.receipt !== undefined) file = reserveFile(options.receipt, 'receipt', io)
      const since = backend.now()
      // The tool server sets the lifetime of a request.
      const most = backend.tools ? seconds : undefined
      const terms: Terms = {
        backend,
        progress,
        signal: io.signal,
        nothing: '',
        proof: 'reported',
        once: 'never',
        separated: 'any-key',
        most,
        submit,
      }
      const { record } = await ask(wanted, { approvers }, terms).catch((error: unknown) => {
        if (error instanceof NotApproved) return error
        throw error
      })
      for (const text of unboundNote(record, backend)) output.warn(text)
      if (file && record.attestation) {
        file.write(`${safeJson(record.attestation, 2)}\n`)
        kept = true
        const use = { ask: asked!.request, since, allowUnseparated: false }
        if (record.status === 'approved') await warnOfReceipt(record, use, backend, context)
      } else if (file) output.warn(`There is no receipt, so ${file.path} was not written`)
      await showDecision(context, record)
      context.exitCode = exitCode(exitOfState(record.status))
    } catch (error) {
      if (asked && error instanceof SvcError && error.exit === 'interrupted')
        throw interruptedWait(asked.id, backend)
      throw error
    } finally {
      progress.end()
      if (!kept) file?.giveUp()
      await backend.close()
    }
  },
})

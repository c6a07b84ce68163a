import type { Command } from 'commander'
import type { ApprovalRecord } from '../../contract/approval.ts'
import type { Ask } from '../../contract/approval-gateway.ts'
import { SvcError } from '../../core/errors.ts'
import { safeJson } from '../../core/safe-text.ts'
import { checkShown } from '../operation/run-operation.ts'
import type { Context } from '../context/context.ts'
import { noteScope } from '../program/command-node.ts'
import { addAskFlags, gatherAsk, requestOperation, showAskDryRun } from './ask.ts'
import { exitOfAll, interruptedWait, maybeNotified, showAwaited, unboundNote } from './messages.ts'
import type { Proving } from './proof.ts'
import { reserveFile } from '../terminal/output-file.ts'
import { inTypedNames } from '../operation/typed-names.ts'
import { waitFor } from './wait.ts'

type Options = { receipt?: string; org?: string; mcp?: boolean; dryRun?: boolean } & Record<string, unknown>

/** Verifies the receipt immediately and prints a warning if it proves nothing. */
const warnOfReceipt = async (
  ask: Ask,
  record: ApprovalRecord,
  proving: Proving,
  context: Context,
): Promise<void> => {
  if (record.status !== 'approved') return
  const { requireProof } = await import('./proof.ts')
  try {
    await requireProof(ask, record, proving, context)
  } catch (error) {
    if (!(error instanceof SvcError) || error.exit === 'interrupted') throw error
    const why = error.code === 'receipt_not_valid' ? error.detail : error.message
    ;(await context.output()).warn(`svc approve verify would not accept the receipt. ${why ?? ''}`.trimEnd())
  }
}

/** `svc approve request`: requests an approval, waits, and exits with the decision. */
export const registerRequest = (group: Command, context: Context): void => {
  const command = group
    .command('request')
    .description(
      'Request an approval and wait for the decision: exit 0 approved, 6 denied, 7 expired, 8 still pending',
    )
    .usage('<action> [flags]')
    .argument('[action]')
  addAskFlags(command, requestOperation)
  command
    .option('--receipt <file>', 'New file for the signed receipt')
    .option('--mcp', 'Use the tool server at SVC_MCP_URL; --timeout then limits the wait only')
    .option('--dry-run', 'Print the request and send nothing')
    .addHelpText(
      'after',
      `\nIn a hook of an agent, end it with "|| exit 2": most hooks block on exit 2 only.\n\nExample:\n  svc approve request ${requestOperation.example}`,
    )

  noteScope(command, 'ask')
  command.action(async () => {
    const options = command.opts<Options>()
    const { io } = context
    const { checkEvents, createProgress } = await import('./progress.ts')
    if (!options.dryRun) {
      checkEvents(context.globals)
      await checkShown(requestOperation, context)
      // If the receipt cannot be written, nobody is notified.
      if (options.receipt !== undefined) reserveFile(options.receipt, 'receipt', io).giveUp()
    }
    const output = await context.output()
    const typed = { args: command.args, options }
    const { ask, prompted } = await gatherAsk(requestOperation, typed, context)
    if (options.dryRun) return showAskDryRun(requestOperation, { ask, mcp: options.mcp }, context)
    const { openBackend } = await import('./open-backend.ts')
    const backend = await openBackend(context, {
      through: options.mcp ? 'tools' : undefined,
      requester: ask.requester,
      open: true,
      mostSeconds: ask.lifetime_s,
    })
    const progress = createProgress(context, backend.secondsLeft)
    let file: ReturnType<typeof reserveFile> | undefined
    let kept = false
    let id: string | undefined
    try {
      if (options.receipt !== undefined) file = reserveFile(options.receipt, 'receipt', io)
      const send = (): Promise<ApprovalRecord> =>
        backend.gateway.request(ask).catch((error: unknown) => {
          throw inTypedNames(requestOperation, maybeNotified(error, context, backend.tools))
        })
      const pending = prompted
        ? await (
            await import('../operation/ask.ts')
          ).untilAccepted(requestOperation, { input: ask, prompted }, context, send)
        : await send()
      id = pending.request_id
      const askedAt = backend.now()
      context.changed = true
      progress.requested(pending)
      const record = await waitFor(backend, pending, {
        progress,
        signal: io.signal,
        globals: context.globals,
        // The tool server sets the lifetime of a request.
        most: backend.tools ? ask.lifetime_s : undefined,
      })
      progress.decided(record)
      for (const text of unboundNote(record, backend.gateway)) output.warn(text)
      if (file && record.attestation) {
        file.write(`${safeJson(record.attestation, 2)}\n`)
        kept = true
        const proving = { backend, askedAt, allowUnseparated: false, org: options.org }
        await warnOfReceipt(ask, record, proving, context)
      } else if (file) output.warn(`There is no receipt, so ${file.path} was not written`)
      await showAwaited(context, record)
      context.exitCode = exitOfAll([record])
    } catch (error) {
      if (id && error instanceof SvcError && error.exit === 'interrupted')
        throw interruptedWait([id], backend.tools, context)
      throw error
    } finally {
      progress.end()
      if (!kept) file?.giveUp()
      await backend.close()
    }
  })
}

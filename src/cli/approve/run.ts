import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { SvcError, usageError } from '../../core/errors.ts'
import type { Context } from '../context.ts'
import { pickingFlag } from '../output/accepted.ts'
import { addAskFlags, gatherAsk, runOperation, showAskDryRun } from './ask.ts'
import { findCommand } from './command-file.ts'
import { getApproval } from './get-approval.ts'
import { inTypedNames } from '../typed-names.ts'
import { reserveFile } from './receipt-file.ts'
import { createTeller } from './teller.ts'

type Options = { receipt?: string; org?: string; mcp?: boolean; dryRun?: boolean } & Record<string, unknown>

/** `svc approve run -- cmd`: runs a command only when a person has approved, and hands it the proof. */
export const registerRun = (group: Command, context: Context): void => {
  const command = group
    .command('run')
    .description('Run a command only if a person approves; exits with the code of the command')
    .usage('--action <text> [flags] -- <command> [args...]')
    .argument('[command...]')
    .exitOverride((error) => {
      context.exitOffset = 100
      throw error
    })
  addAskFlags(command, runOperation)
  command
    .option('--receipt <file>', 'New file for the signed receipt, written before the command starts')
    .option('--mcp', 'Use the tool server at SVC_MCP_URL')
    .option('--dry-run', 'Print the request; send and run nothing')
    .addHelpText(
      'after',
      `\nSVC_APPROVAL_RECEIPT names the file with the receipt, and SVC_APPROVAL_ID is the id of the request.` +
        `\nErrors of svc itself exit with 100 plus their code: 106 denied, 107 expired, 109 unreachable.` +
        `\n\nExample:\n  svc approve run ${runOperation.example}`,
    )

  command.action(async () => {
    context.exitOffset = 100
    const options = command.opts<Options>()
    const { io } = context
    const [name, ...args] = command.args
    if (name === undefined)
      throw usageError('Missing the command after --', `svc approve run ${runOperation.example}`)
    const picking = pickingFlag(context.globals)
    if (picking && !options.dryRun)
      throw usageError(`svc approve run does not take ${picking}`, 'The command itself has standard output')
    const file = findCommand(name, io)
    const { ask } = await gatherAsk(runOperation, { args: [], options }, context)
    if (options.dryRun) return showAskDryRun(runOperation, { ask, mcp: options.mcp }, context)
    const { openBackend } = await import('./backend.ts')
    const backend = await openBackend(context, {
      through: options.mcp ? 'tools' : undefined,
      requester: ask.requester,
      bound: true,
    })
    const folder = mkdtempSync(join(tmpdir(), 'svc-approval-'))
    let kept: ReturnType<typeof reserveFile> | undefined
    try {
      if (options.receipt !== undefined) kept = reserveFile(options.receipt, 'receipt', io)
      const tell = createTeller(context, backend.secondsLeft)
      const { id, receipt } = await getApproval(
        ask,
        { backend, tell, nothing: 'nothing was run', allowUnseparated: true, org: options.org },
        context,
      ).catch((error: unknown) => {
        throw inTypedNames(runOperation, error)
      })
      const path = kept?.path ?? join(folder, 'receipt.json')
      if (kept) kept.write(receipt)
      else writeFileSync(path, receipt, { mode: 0o600 })
      kept = undefined
      if (io.signal.aborted) throw new SvcError('interrupted', 'interrupted', 'Interrupted; nothing was run')
      const { runChild } = await import('./child.ts')
      const env = { ...io.env, SVC_APPROVAL_RECEIPT: path, SVC_APPROVAL_ID: id }
      context.exitCode = await runChild(file, args, { env, cwd: io.cwd })
    } finally {
      kept?.giveUp()
      rmSync(folder, { recursive: true, force: true })
      await backend.close()
    }
  })
}

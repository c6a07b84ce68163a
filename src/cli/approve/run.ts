import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { Ask } from '../../contract/asker.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import type { Context } from '../context.ts'
import { addAskFlags, gatherAsk, runOperation, showAskDryRun } from './ask.ts'
import type { Backend } from './backend.ts'
import { findCommand } from './command-file.ts'
import { maybeRung } from './ending.ts'
import { exitOfState } from './state.ts'
import { createTeller } from './teller.ts'
import { waitFor } from './wait-for.ts'

type Options = { mcp?: boolean; dryRun?: boolean } & Record<string, unknown>

/** No prompt stays live that nobody waits for; says so where it cannot be taken back. */
const withdraw = async (id: string, { asker }: Backend, context: Context): Promise<void> => {
  try {
    await asker.cancel(id)
  } catch (error) {
    // It has ended by itself.
    if (error instanceof SvcError && ['refused', 'expired', 'denied', 'notFound'].includes(error.exit)) return
    ;(await context.output()).warn(`The request ${id} could not be withdrawn: svc approve cancel ${id}`)
  }
}

/** The verified receipt and the id of an approval; fails with how it ended otherwise. */
const getApproval = async (
  ask: Ask,
  backend: Backend,
  context: Context,
): Promise<{ id: string; receipt: string }> => {
  const { signal } = context.io
  const { requireProof } = await import('./proof.ts')
  const tell = createTeller(context, backend.secondsLeft)
  const askedAt = backend.now()
  const asked = await backend.asker.request(ask).catch((error: unknown) => {
    throw maybeRung(error)
  })
  const id = asked.request_id
  try {
    tell.requested(asked)
    const record = await waitFor(backend, asked, { tell, signal })
    tell.decided(record)
    if (record.status === 'pending') await withdraw(id, backend, context)
    if (record.status !== 'approved')
      throw new SvcError(
        exitOfState(record.status),
        record.status,
        `Not approved (${record.status}): nothing was run`,
        {
          detail: record.detail ?? undefined,
        },
      )
    return await requireProof(ask, record, { backend, askedAt }, context)
  } catch (error) {
    tell.end()
    const ended = error instanceof SvcError && ['denied', 'expired', 'pending'].includes(error.code)
    if (!ended) await withdraw(id, backend, context)
    if (signal.aborted) throw new SvcError('interrupted', 'interrupted', 'Interrupted; nothing was run')
    throw error
  }
}

/** `svc approve run -- cmd`: runs a command only when a person has approved, and hands it the proof. */
export const registerRun = (group: Command, context: Context): void => {
  const command = group
    .command('run')
    .description('Run a command only when a person approves; exits as the command does')
    .usage('--action <text> [flags] -- <command> [args...]')
    .argument('[command...]')
    .exitOverride((error) => {
      context.exitOffset = 100
      throw error
    })
  addAskFlags(command, runOperation)
  command
    .option('--mcp', 'ask through the tool server at SVC_MCP_URL')
    .option('--dry-run', 'print the request; send and run nothing')
    .addHelpText(
      'after',
      `\nThe command finds the receipt in the file SVC_APPROVAL_RECEIPT and the request in SVC_APPROVAL_ID.` +
        `\nWhat svc itself says is 100 and its code: 106 denied, 107 expired, 109 unreachable.` +
        `\n\nExample:\n  svc approve run ${runOperation.example}`,
    )

  command.action(async () => {
    context.exitOffset = 100
    const options = command.opts<Options>()
    const { io } = context
    const [name, ...args] = command.args
    if (name === undefined)
      throw usageError('Missing the command after --', `svc approve run ${runOperation.example}`)
    const file = findCommand(name, io)
    const ask = await gatherAsk(runOperation, { args: [], options }, context)
    if (options.dryRun) return showAskDryRun(ask, options.mcp, context)
    const { openBackend } = await import('./backend.ts')
    const backend = await openBackend(context, {
      mcp: options.mcp,
      requester: ask.requester,
      bound: true,
    })
    const folder = mkdtempSync(join(tmpdir(), 'svc-approval-'))
    try {
      const { id, receipt } = await getApproval(ask, backend, context)
      const path = join(folder, 'receipt.json')
      writeFileSync(path, receipt, { mode: 0o600 })
      if (io.signal.aborted) throw new SvcError('interrupted', 'interrupted', 'Interrupted; nothing was run')
      const { runChild } = await import('./child.ts')
      const env = { ...io.env, SVC_APPROVAL_RECEIPT: path, SVC_APPROVAL_ID: id }
      context.exitCode = await runChild(file, args, { env, cwd: io.cwd })
    } finally {
      rmSync(folder, { recursive: true, force: true })
      await backend.close()
    }
  })
}

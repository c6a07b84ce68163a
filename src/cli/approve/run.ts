import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Terms } from '../../asking/ask.ts'
import { usageError } from '../../core/errors.ts'
import { safeJson } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import { defineCommand } from '../program/define-command.ts'
import { pickingFlag } from '../terminal/output.ts'
import { many } from '../operation/flags.ts'
import { inTypedNames } from '../operation/typed-names.ts'
import { reserveFile } from '../terminal/output-file.ts'
import { askFlags, defaultSeconds, gatherAsk, runOperation, showAskDryRun } from './ask.ts'
import type { BoundCommand } from './bound-command.ts'
import type { ChildEnvironment } from './child.ts'
import { submitAsking } from './demanded.ts'

type Options = {
  receipt?: string
  org?: string
  mcp?: boolean
  dryRun?: boolean
  bind?: string[]
  env?: string[]
} & Record<string, unknown>

type Running = { command: BoundCommand; environment: ChildEnvironment; folder: string }

/** Requests an approval for exactly this command and runs it if approved. Sets the exit code of the command. */
const askAndRun = async (
  options: Options,
  { command, environment, folder }: Running,
  context: Context,
): Promise<void> => {
  const { io } = context
  const request = await gatherAsk(runOperation, { args: [], options }, context, command.subject)
  if (options.dryRun) return showAskDryRun(runOperation, { ask: request, mcp: options.mcp }, context)
  const output = await context.output()
  const { ask } = await import('../../asking/ask.ts')
  const { openBackend } = await import('./open-backend.ts')
  const { createProgress } = await import('./progress.ts')
  const { separated } = await import('./separation.ts')
  const { runChild } = await import('./child.ts')
  const { approvers, ...wanted } = request
  const backend = await openBackend(context, {
    through: options.mcp ? 'tools' : undefined,
    org: options.org,
    requester: wanted.requester,
  })
  let kept: ReturnType<typeof reserveFile> | undefined
  try {
    if (options.receipt !== undefined) {
      kept = reserveFile(options.receipt, 'receipt', io)
      command.bindOwn(kept.path, '')
    }
    for (const text of command.warnings) output.warn(text)
    const terms: Terms = {
      backend,
      progress: createProgress(context, backend),
      signal: io.signal,
      nothing: 'nothing was run',
      proof: 'required',
      once: backend.tools ? 'if-possible' : 'always',
      // A tool server does not describe the key, so the receipt decides.
      separated: backend.tools ? {} : await separated(context),
      recheck: () => command.recheck(),
      submit: submitAsking(runOperation, context),
    }
    const timed = { ...(backend.tools && { lifetime_s: defaultSeconds }), ...wanted }
    const { id, record } = await ask(timed, { approvers }, terms).catch((error: unknown) => {
      throw inTypedNames(runOperation, error)
    })
    const receipt = safeJson(record.attestation, 2)
    const path = kept?.path ?? join(folder, 'receipt.json')
    if (kept) kept.write(receipt)
    else writeFileSync(path, receipt, { mode: 0o600 })
    command.bindOwn(path, receipt)
    kept = undefined
    const env = {
      ...environment.env,
      SVC_APPROVAL_RECEIPT: path,
      SVC_APPROVAL_ID: id,
      ...(request.break_glass !== undefined && { SVC_APPROVAL_BREAK_GLASS: '1' }),
    }
    command.recheck(true)
    context.exitCode = await runChild(command.file, command.args, { env, cwd: io.here })
  } finally {
    kept?.giveUp()
    await backend.close()
  }
}

/** `svc approve run -- cmd`: runs a command only after a person has approved exactly it, and passes it the receipt. */
export const registerRun = defineCommand<Options>({
  name: 'run',
  summary: 'Run a command only if a person approves exactly it; exits with the code of the command',
  usage: '[flags] -- <command> [args...]',
  args: ['[command...]'],
  options: {
    ...askFlags(runOperation),
    '--bind <file>': many('File whose content is approved too; the command gets a private copy'),
    '--env <name>': many('Variable to pass on, or NAME=VALUE to set it; the approver sees it'),
    '--receipt <file>': 'New file for the signed receipt, written before the command starts',
    '--mcp': 'Use the tool server at SVC_MCP_URL',
    '--dry-run': 'Print the request; send and run nothing',
  },
  note:
    `The approver reads the command, its folder and the SHA-256 of each file in it. The command gets PATH, HOME, the ` +
    `language, the terminal and what --env adds, and no credentials of svc.` +
    `\nSVC_APPROVAL_RECEIPT names the file with the receipt, and SVC_APPROVAL_ID is the id of the request.` +
    `\nSVC_APPROVAL_BREAK_GLASS is 1 after --break-glass.` +
    `\nErrors of svc itself exit with 100 plus their code: 106 denied, 107 expired, 109 unreachable.`,
  examples: [`svc approve run ${runOperation.example}`],
  scope: 'ask',
  hasId: true,
  runsProgram: true,
  action: async ({ args, options }, context) => {
    const { io } = context
    const [name] = args
    if (name === undefined)
      throw usageError(
        'Missing command after --',
        await context.command!.again({ args: ['./deploy.sh', '4.2'] }),
      )
    const picking = pickingFlag(context.globals)
    if (picking && !options.dryRun)
      throw usageError(
        `${picking} cannot be used with svc approve run`,
        'Standard output belongs to the command',
      )
    const { childEnvironment, findCommand } = await import('./child.ts')
    const { bindCommand, removeBound } = await import('./bound-command.ts')
    const file = findCommand(name, io)
    const environment = childEnvironment(io.env, options.env)
    const folder = mkdtempSync(join(tmpdir(), 'svc-approval-'))
    try {
      const input = { argv: args, file, bind: options.bind ?? [], environment, folder }
      await askAndRun(options, { command: bindCommand(input, io), environment, folder }, context)
    } finally {
      removeBound(folder)
    }
  },
})

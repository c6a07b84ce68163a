import { setTimeout as wait } from 'node:timers/promises'
import { requireSeparated } from '../../../asking/separation.ts'
import { SvcError } from '../../../core/errors.ts'
import { safeLine } from '../../../core/safe-text.ts'
import { openBackend } from '../../approve/open-backend.ts'
import type { Context } from '../../context/context.ts'
import { openApprovedDefinitions } from './approved-definitions.ts'
import { separated } from '../../approve/separation.ts'
import { createGate } from './gate.ts'
import { createHeldCalls, type GetConsumed } from './held-calls.ts'
import { createLineSplitter } from './lines.ts'
import type { Rules } from './rules.ts'
import type { OnMessage, Upstream } from './upstream.ts'
import { ask } from '../../../asking/ask.ts'
import type { Backend } from '../../../asking/backend.ts'
import { summaryOf } from '../../../receipt/subject-text.ts'
import { resolveOrgNow } from '../../context/organization.ts'

/** As much of a name as the service accepts. */
const requesterOf = (client: string | undefined): string =>
  [...safeLine(client ?? '').trim()].slice(0, 100).join('') || 'svc mcp gate'

type Asking = {
  backend: Backend
  org: string | undefined
  /** The name that the client gave itself. */
  client(): string | undefined
}

/** Asks a person with the service of the profile. */
export const askPerson =
  (context: Context, { backend, org, client }: Asking): GetConsumed =>
  async (subject, { to, reason, timeout, factors }, { progress, signal, recheck }) => {
    const { io } = context
    const own = { ...context, io: { ...io, signal: AbortSignal.any([io.signal, signal]) } }
    const wanted = {
      action: summaryOf(subject),
      subject,
      lifetime_s: timeout,
      requester: requesterOf(client()),
      ...(reason !== undefined && { reason }),
      ...(factors && { factors }),
      ...(org !== undefined && { org_id: (await resolveOrgNow(org, own)).id }),
    }
    await ask(
      wanted,
      { ...(to.length > 0 && { approvers: to }) },
      {
        backend,
        progress: { ...progress, warn: (await context.output()).warn },
        signal: own.io.signal,
        nothing: 'the call was not forwarded',
        proof: 'required',
        once: 'always',
        separated: await separated(own),
        recheck,
      },
    )
  }

/** Longer than any useful message, so that an endless line does not fill the memory. */
export const mostBytes = 64 * 1024 * 1024
/** How long the end waits for withdrawals. */
const patienceMs = 5_000

type Serving = {
  rules: Rules
  rulesFile: string
  open(onMessage: OnMessage): Upstream
  note(text: string): void
}

/** Serves the gate on standard input and output, until the client or the server ends. */
export const serveGate = async (
  { rules, rulesFile, open, note }: Serving,
  context: Context,
): Promise<void> => {
  const { io } = context
  const { stdin, stdout } = process
  const backend = await openBackend(context, { through: 'service', org: rules.org })
  const approved = openApprovedDefinitions(io, { file: rulesFile, server: rules.server }, note)
  let clientEnded: () => void
  const client = new Promise<'client'>((resolve) => (clientEnded = () => resolve('client')))
  const write = (line: Buffer | string): void => {
    stdout.write(line)
    stdout.write('\n')
  }
  stdout.on('error', () => clientEnded())
  const gate = createGate({
    rules,
    open,
    write,
    note,
    createHeld: (definitions, named) =>
      createHeldCalls({
        server: rules.server,
        definitions,
        approved,
        clock: backend,
        getConsumed: askPerson(context, { backend, org: rules.org, client: named }),
      }),
  })
  stdin.on('data', createLineSplitter(mostBytes, { line: gate.receive, tooLong: gate.tooLong }))
  stdin.once('end', () => clientEnded()).once('error', () => clientEnded())
  if (io.signal.aborted) clientEnded!()
  else io.signal.addEventListener('abort', () => clientEnded(), { once: true })

  // A key that could approve its own requests is refused at once; a service that is away may come back before the first call.
  const checking = requireSeparated(await separated(context)).catch((error: unknown) => {
    if (!(error instanceof SvcError)) throw error
    // The usual hint names a variable, which the gate does not read.
    if (error.code === 'no_key')
      throw error.with({ hint: 'svc profile login --ask saves one; --key-file names a file with one' })
    if (error.exit !== 'unreachable') throw error
    note(`${error.message}; calls that need an approval are refused until it can be reached`)
    return new Promise<never>(() => undefined)
  })
  const wrongKey = checking.then(() => new Promise<never>(() => undefined))
  try {
    const server = gate.upstreamEnded.then((reason) => `The server ${safeLine(reason)}`)
    const first = await Promise.race([client, server, wrongKey])
    if (first !== 'client')
      throw new SvcError('failed', 'server_ended', first, { hint: 'Start the server without svc to see why' })
  } finally {
    stdin.pause()
    const patience = wait(patienceMs, undefined, { ref: false })
    await Promise.all([Promise.race([gate.end(), patience]), gate.finish()])
    await backend.close()
  }
}

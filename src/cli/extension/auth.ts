import { fieldsIn } from '../../client/answer-data.ts'
import type { Client } from '../../client/client.ts'
import { auth } from '../../contract/auth.ts'
import type { Operation } from '../../contract/operation.ts'
import { SvcError } from '../../core/errors.ts'
import { exitCode, type Exit } from '../../core/exit-codes.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { wholeNumber } from '../../core/phone-parts.ts'
import { sleepFor } from '../../core/sleep.ts'
import { mayComeBack } from '../../client/retry.ts'
import { maybeNotified } from '../../asking/outcome.ts'
import type { Context } from '../context/context.ts'
import type { Typed } from '../operation/flags.ts'
import type { Extension, Extensions } from '../operation/operation-command.ts'
import { callTyped } from '../operation/typed-names.ts'
import { sameService } from '../program/command-line.ts'

/** The result of a verification, which can still be pending, and the data of the answer. */
export type Outcome = { exit: Exit; message: string; data: Record<string, unknown> }

type Following = {
  client: Client
  /** The input of `/validate/global/auth`. */
  input: { mobile: string; request_id?: string; org_id?: number }
  seconds: number
  signal: AbortSignal
  now(): number
  sleep?(ms: number, signal?: AbortSignal): Promise<void>
  /** Called when the connection is lost; the wait continues. */
  lost?(error: SvcError): void
}

const firstPauseMs = 500
const longestPauseMs = 5_000
/** Time after the deadline in which the service may still report the result. */
const graceMs = 10_000

const aboutAnother = (): SvcError =>
  new SvcError('failed', 'unexpected_answer', 'The service answered about another verification', {
    detail: 'Whether the person approved is unknown. This is not an approval.',
  })

/**
 * Polls `/validate/global/auth`, at growing intervals, until the person has answered or the deadline has passed. A success
 * counts only if it names this verification.
 */
export const follow = async (options: Following): Promise<Outcome> => {
  const { client, input, signal, now, sleep = sleepFor, lost } = options
  const until = now() + options.seconds * 1000 + graceMs
  for (let pause = 0; ; pause = Math.min(pause * 1.5 || firstPauseMs, longestPauseMs)) {
    await sleep(pause, signal)
    try {
      const answer = await client.call(auth.validateAuth, input, { signal })
      const data = fieldsIn(answer)
      if (data.request_id === undefined || data.request_id !== input.request_id) throw aboutAnother()
      return { exit: 'done', message: answer.envelope.message, data }
    } catch (error) {
      if (!(error instanceof SvcError)) throw error
      const { exit, message, data = {} } = error
      if (exit === 'denied' || exit === 'expired') return { exit, message, data }
      // A service that restarts, a cut cable, a limit: nothing is decided by it.
      if (exit !== 'pending' && !mayComeBack(error)) throw error
      if (exit !== 'pending') lost?.(error)
      if (now() >= until && exit !== 'pending') throw error
      if (now() >= until) return { exit, message, data }
    }
  }
}

type Options = { wait?: boolean; dryRun?: boolean } & Record<string, unknown>

/** The lifetime of a prompt if the service does not report it, in seconds. */
const usualSeconds = 300

const secondsOf = (expires_at: unknown, now: number): number => {
  const seconds = (Date.parse(String(expires_at)) - now) / 1000
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 1), 3600) : usualSeconds
}

const validateLine = (input: Following['input']): string =>
  [
    `svc auth validate --mobile ${shellQuote(input.mobile)}`,
    ...(input.request_id ? [`--request-id ${shellQuote(input.request_id)}`] : []),
    ...(input.org_id === undefined ? [] : [`--org ${shellQuote(String(input.org_id))}`]),
  ].join(' ')

/** Throws, before anybody is notified, for a service that need not name the verification in its answers. */
const requireApprovals = async (client: Client, context: Context): Promise<void> => {
  const { hasApprovals } = await import('../../asking/rest.ts')
  if (await hasApprovals(client)) return
  const { baseUrl } = await context.settings()
  throw new SvcError(
    'failed',
    'no_approvals',
    `--wait does not work with ${new URL(baseUrl.value).origin}: a success of this service may mean only that the prompt was sent`,
    {
      detail: 'The specification does not define the answer while a decision is pending. No prompt was sent.',
      hint: 'Without --wait, svc auth verify-user sends the prompt, and svc auth validate prints the answer',
    },
  )
}

const verifyAndWait = async (options: Options, context: Context): Promise<void> => {
  const { io } = context
  const { gatherInput } = await import('../operation/gather-input.ts')
  const { input, extra } = await gatherInput(auth.verifyUser, { args: [], options }, context)
  const [output, client] = [await context.output(), await context.client()]
  await requireApprovals(client, context)
  const answer = await callTyped(client, auth.verifyUser, input, { extra, signal: io.signal }).catch(
    (error: unknown) => {
      throw maybeNotified(error, { tools: false, flags: sameService(context.globals) })
    },
  )
  const { request_id, number, expires_at } = fieldsIn(answer)
  const phone = { ...input, ...extra } as { country_code: string; mobile: string; org_id?: number }
  const validation = {
    mobile: wholeNumber(phone)!,
    ...(typeof request_id === 'string' && { request_id }),
    ...(phone.org_id !== undefined && { org_id: phone.org_id }),
  }
  // Use the clock of the service: that of this machine may be wrong.
  const startedAt = answer.date === undefined ? io.now().getTime() : Date.parse(answer.date)
  const seconds = secondsOf(expires_at, startedAt)
  output.note(`${answer.envelope.message}; waiting up to ${Math.round(seconds)} s for the decision`)
  if (typeof number === 'string') output.warn(`Number to type on the phone: ${number}`)
  let lost = false
  try {
    const { exit, message, data } = await follow({
      client,
      input: validation,
      seconds,
      signal: io.signal,
      now: () => io.now().getTime(),
      lost: (error) => {
        if (!lost) output.warn(`${error.message}; still waiting`)
        lost = true
      },
    })
    output.warn(message)
    const status = exit === 'done' ? 'approved' : exit
    const factors = Array.isArray(data.factors) ? data.factors : undefined
    const rows = ['table', 'tsv', 'csv'].includes(output.format) && context.globals.json === undefined
    const whole = { status, ...(validation.request_id && { request_id: validation.request_id }), ...data }
    await output.report(message, rows && factors ? factors : whole, {
      columns: ['factor', 'policy', 'result', 'source', 'reason'],
      folded: ['attestation'],
    })
    context.exitCode = exitCode(exit)
  } catch (error) {
    if (!(error instanceof SvcError) || error.exit !== 'interrupted') throw error
    throw new SvcError('interrupted', 'interrupted', 'Interrupted; the prompt is still on the phone', {
      hint: `${validateLine(validation)} shows the answer`,
    })
  }
}

/** A plain operation of the specification, whose answer is only a status and a message. */
const validate = async (typed: Typed, context: Context): Promise<void> => {
  const { runOperation } = await import('../operation/run-operation.ts')
  let isNamed = true
  await runOperation(auth.validateAuth, typed, context, {
    check: (answer, { request_id }) => {
      const { request_id: named } = fieldsIn(answer)
      isNamed = typeof named === 'string'
      if (isNamed && request_id !== undefined && named !== request_id) throw aboutAnother()
    },
  })
  if (!isNamed)
    (await context.output()).warn(
      'The answer names no verification, so it does not prove that the person approved; svc approve request does',
    )
}

/** `svc auth verify-user --wait`: the operation only notifies the person; this waits for the decision. */
const extendVerifyUser: Extension = (command, context) =>
  void command
    .option('--wait', 'Wait for the decision: exit 0 approved, 6 denied, 7 expired, 8 still pending')
    .addHelpText('after', '  svc auth verify-user --country-code +1 --mobile 2025550101 --wait')
    .action(async () => {
      const options = command.opts<Options>()
      if (options.wait && !options.dryRun) return verifyAndWait(options, context)
      const { runOperation } = await import('../operation/run-operation.ts')
      return runOperation(auth.verifyUser, { args: command.args, options }, context)
    })

export const verifications: Extensions = new Map<Operation, Extension>([
  [auth.verifyUser, extendVerifyUser],
  [
    auth.validateAuth,
    (command, context) =>
      void command.action(() => validate({ args: command.args, options: command.opts<Options>() }, context)),
  ],
])

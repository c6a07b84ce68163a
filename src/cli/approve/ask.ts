import { approval } from '../../contract/approval.ts'
import type { Ask } from '../../contract/approval-gateway.ts'
import { checkedLines } from '../../contract/approvers.ts'
import { fieldsOf } from '../../contract/describe.ts'
import type { Field, Operation } from '../../contract/operation.ts'
import type { Subject } from '../../receipt/subject.ts'
import { usageError } from '../../core/errors.ts'
import { safeJson } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import { flagsFor } from '../operation/flags.ts'
import type { Typed } from '../program/define-command.ts'
import type { Flags } from '../program/command-node.ts'
import { needFor } from '../operation/need.ts'

/** Of what waits for the answer of one call: a hook, or a tool. A request at the service lives as long as its rules or it say. */
export const defaultSeconds = 120
const mostSeconds = 86_400

/** An operation with other fields, under another name. */
const derived = (operation: Operation, fields: Field[], changes: Partial<Operation> = {}): Operation =>
  Object.assign(Object.create(operation) as Operation, changes, {
    outline: { fields, personal: [], secret: [], answered: [] },
  })

export const requestOperation: Operation = Object.assign(
  Object.create(approval.createApproval) as Operation,
  {
    cli: 'approve request',
    args: ['action'],
    example: '"Deploy 4.2 to production" --to +12025550101',
  },
)

/** The subject is the command itself, so the action is optional. */
const runFields = fieldsOf(approval.createApproval)
  .filter(({ name }) => name !== 'subject')
  .map((field) => (field.name === 'action' ? Object.assign({}, field, { required: false }) : field))

export const runOperation = derived(approval.createApproval, runFields, {
  cli: 'approve run',
  args: [],
  example: '--to +12025550101 -- ./deploy.sh 4.2',
})

/**
 * What a request for an agent's tool call leaves open: the subject is the call, nobody can read a number from a hook, and no
 * agent breaks the glass.
 */
const callFields = runFields.filter(
  ({ name }) => !['action', 'number', 'use_within_s', 'break_glass'].includes(name),
)

export const hookOperation = derived(approval.createApproval, callFields, {
  cli: 'hook run',
  args: [],
  example: 'claude --to +12025550101',
})

/** The words that `--factors` takes. */
export const factors = fieldsOf(requestOperation).find(({ name }) => name === 'factors')!.choices

/** Describes the defaults that a field has on the command line. */
const withDefault = (field: Field, operation: Operation): Field => {
  const { name, meta } = field
  let { description } = meta
  if (name === 'approvers') description += '; default: SVC_DEFAULT_MOBILE or the profile'
  if (name === 'lifetime_s' && operation === hookOperation)
    description = `Time for the decision, in seconds; default: ${defaultSeconds}`
  return { ...field, meta: { ...meta, description } }
}

/** A flag for each field of the request that is not an argument. */
export const askFlags = (operation: Operation): Flags =>
  Object.fromEntries(
    fieldsOf(operation)
      .filter(({ name }) => !operation.args!.includes(name))
      .flatMap((field) => flagsFor(withDefault(field, operation), needFor([operation], field))),
  )

/** A tool server does not know organizations, and svc may have no key to look one up. */
const withoutOrg = (operation: Operation): Operation =>
  derived(
    operation,
    fieldsOf(operation).filter(({ name }) => name !== 'org_id'),
  )

/** Checks a typed subject before anybody is notified. */
export const typedSubject = async (value: unknown): Promise<Subject> => {
  const { subjectFor } = await import('../../asking/subject.ts')
  const { type, data, digest } = (value ?? {}) as Record<string, unknown>
  return subjectFor({ type, data, digest }, (problem) =>
    usageError(
      `--subject: ${problem}`,
      'A subject is JSON such as {"type": "file", "data": {"name": "a.tgz", "size": 3, "sha256": "…"}}',
    ),
  )
}

/**
 * Reads the request from flags, environment and profile, and prompts for missing fields on a terminal. `bound` is the subject
 * if the command computes it.
 */
export const gatherAsk = async (
  operation: Operation,
  typed: Typed,
  context: Context,
  bound?: Subject,
): Promise<Ask> => {
  const { gatherInput } = await import('../operation/gather-input.ts')
  const { input } = await gatherInput(typed.options.mcp ? withoutOrg(operation) : operation, typed, context)
  const fields = input as Partial<Ask>
  const subject = bound ?? (fields.subject === undefined ? undefined : await typedSubject(fields.subject))
  const action =
    fields.action ?? (subject && (await import('../../receipt/subject-text.ts')).summaryOf(subject))
  const ask = {
    ...(operation === hookOperation && { lifetime_s: defaultSeconds }),
    ...fields,
    // As the receipts name them. Defaults were checked with the name of their setting.
    ...(fields.approvers && { approvers: checkedLines(fields.approvers, '--to') }),
    ...(action !== undefined && { action }),
    ...(subject && { subject }),
  } as Ask
  const seconds = ask.lifetime_s
  if (seconds !== undefined && (seconds < 1 || seconds > mostSeconds))
    throw usageError(`--timeout must be 1 to ${mostSeconds} seconds, not ${seconds}`, '--timeout 120')
  if (!/\S/.test(ask.action))
    throw usageError(
      'The action must not be empty',
      await context.command!.again({ args: ['Deploy 4.2 to production'] }),
    )
  return ask
}

/** Prints the call of a tool that would be made. */
const showToolCall = async (operation: Operation, ask: Ask, context: Context): Promise<void> => {
  const { argumentsOf } = await import('../../tools/client/mcp-gateway.ts')
  const { toolServer } = await import('./tool-server.ts')
  const url = toolServer(await context.settings())
  const waits = operation === runOperation
  const call = {
    url,
    tool: waits ? 'request_approval' : 'request_approval_async',
    arguments: { ...argumentsOf(ask), ...(waits && { timeout_s: ask.lifetime_s ?? defaultSeconds }) },
  }
  const output = await context.output()
  if (output.machine) return output.show({ status: 'dry_run', message: 'Nothing was sent', data: call })
  context.io.stdout.write(`${call.tool} at ${url}\n\n${safeJson(call.arguments, 2)}\n`)
  output.note('Nothing was sent.')
}

/** Prints what would be sent: the request to the REST API, or the call of a tool. */
export const showAskDryRun = async (
  operation: Operation,
  { ask, mcp }: { ask: Ask; mcp: boolean | undefined },
  context: Context,
): Promise<void> => {
  if (mcp) return showToolCall(operation, ask, context)
  const { showDryRun } = await import('../operation/dry-run.ts')
  return showDryRun(operation, ask, {}, context)
}

import type { Answer } from '../../client/client.ts'
import { answeredFields, answerFieldsWith } from '../../contract/describe.ts'
import { asksFirst, type Data, type Operation } from '../../contract/operation.ts'
import { usageError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import type { Shape } from '../terminal/payload.ts'
import type { Answers } from './confirm.ts'
import { gatherInput } from './gather-input.ts'
import type { Gathered } from './flags.ts'
import type { Typed } from '../program/define-command.ts'
import { isPaged, joined, listPages, type Listed } from './list-rows.ts'
import { asTyped } from './typed-names.ts'

/** Throws before a write whose answer has no id for `-o id`: a new key is shown once and must not be lost to it. */
export const checkShown = async (
  operation: Operation,
  { globals }: Pick<Context, 'globals'>,
): Promise<void> => {
  if (globals.output !== 'id' || operation.effect === 'read') return
  const { idOf } = await import('../terminal/payload.ts')
  if (idOf(answeredFields(operation)) === undefined)
    throw usageError(`svc ${operation.cli} has no id in its answer; nothing was sent`, 'Remove -o id')
}

/** Fields in which any service may return phone numbers, addresses or credentials, in addition to those of the table. */
const alwaysMasked = 'mobile mobile_e164 phone email api_key apiKey secret token password'.split(' ')

/** Requests an approval of exactly this input and organization, if the profile requires one. */
const approveFirst = async (
  operation: Operation,
  gathered: Gathered,
  typed: Typed,
  context: Context,
): Promise<void> => {
  const { requireApproval } = await context.settings()
  if (requireApproval.length === 0) return
  const { boundCall, operationLine } = await import('./approval-subject.ts')
  const line = operationLine(operation, gathered, typed)
  await context.approveFirst({
    cli: operation.cli,
    line,
    org: (await import('./confirm.ts')).orgIn(gathered.input),
    bound: () => boundCall(operation, { ...gathered.input, ...gathered.extra }, context),
  })
}

/** The notice with the command that shows the rest of a list. */
const moreLine = async ({ cursor }: NonNullable<Listed['more']>, { command }: Context): Promise<string> => {
  const change =
    cursor === undefined
      ? { without: ['--limit', '--cursor'], plus: ['--all'] }
      : { without: ['--cursor'], plus: ['--cursor', cursor] }
  return `More: ${await command!.again(change)}`
}

export type Extras<O extends Operation = Operation> = {
  /** Runs after the answer was shown. */
  afterShown?(answer: Pick<Answer<Data<O>>, 'envelope'>): void | Promise<void>
  /** Throws if the answer must not be shown. */
  check?: ((answer: Pick<Answer, 'envelope'>, input: Gathered['input']) => void) | undefined
  /** Asks on a terminal for what nobody typed, and adds it to the input. */
  complete?: ((input: Gathered['input'], answers: Answers, context: Context) => Promise<void>) | undefined
  /** What else is deleted, a line each, for the question that asks for confirmation. */
  consequence?(input: Gathered['input']): Promise<string | string[] | undefined>
  /** Throws for what a dry run finds wrong. Returns what it has checked and what it has not, as sentences. */
  dryCheck?(input: Gathered['input'], context: Context): Promise<string>
  /** Asks or warns before anything is sent. */
  first?: ((input: Gathered['input'], answers: Answers, context: Context) => Promise<void>) | undefined
  /** Of fields that a list shows in words of its own. */
  texts?: Shape['texts']
}

/** Runs one operation of the table: gathers the input, asks for confirmation, sends the request and shows the answer. */
export const runOperation = async (
  operation: Operation,
  typed: Typed,
  context: Context,
  { afterShown, check, complete, consequence, dryCheck, first: askFirst, texts }: Extras = {},
): Promise<void> => {
  if (!typed.options.dryRun) await checkShown(operation, context)
  const gathered = await gatherInput(operation, typed, context)
  await complete?.(gathered.input, typed.options, context)
  const { input, extra } = gathered
  const whole = { ...input, ...extra }
  if (typed.options.dryRun) {
    const { showDryRun } = await import('./dry-run.ts')
    const checked = await dryCheck?.(whole, context)
    await showDryRun(operation, input, extra, context)
    if (checked) (await context.output()).note(checked)
    return
  }
  await askFirst?.(whole, typed.options, context)
  if (asksFirst(operation, whole)) {
    const { confirmOperation } = await import('./confirm.ts')
    await confirmOperation(operation, whole, typed.options, context, () => consequence?.(input))
  }

  if (operation.effect !== 'read') await approveFirst(operation, gathered, typed, context)
  const once = answerFieldsWith(operation, 'secret')
  const shape: Shape = {
    columns: operation.columns,
    wide: operation.wide,
    known: answeredFields(operation),
    once,
    folded: operation.folded,
    texts,
    masked: new Set([
      ...answerFieldsWith(operation, 'personal'),
      ...(operation.effect === 'read' ? alwaysMasked : []),
    ]),
  }
  const client = await context.client()
  const { signal } = context.io
  let pages: AsyncGenerator<Listed, void> | undefined
  const send = async (): Promise<Listed> => {
    if (!isPaged(operation)) return client.call(operation, input, { extra, signal })
    pages = listPages(operation, client, { input, options: typed.options, signal })
    return (await pages.next()).value!
  }
  const first = await asTyped(operation, input, send())
  const output = await context.output()
  if (pages && first.hasNext) {
    const { canShowPages, showPages } = await import('./show-pages.ts')
    if (canShowPages(output, context)) {
      const { more } = await asTyped(operation, input, showPages(first, pages, output, shape, context))
      if (more) output.warn(await moreLine(more, context))
      return
    }
  }
  const { envelope, more } = first.hasNext ? await asTyped(operation, input, joined(pages!, first)) : first
  check?.({ envelope }, input)
  if (operation.effect !== 'read' && operation.data) output.note(envelope.message)
  await output.show(envelope, shape)
  if (context.once !== undefined) output.note('Shown once: save it now.')
  if (more) output.warn(await moreLine(more, context))
  if (once.size > 0 && operation.path.startsWith('/svc/')) {
    const { requireSecrets } = await import('../terminal/error.ts')
    requireSecrets(context, envelope.data, once)
  }
  await afterShown?.({ envelope })
}

import { answerFieldsWith } from '../contract/describe.ts'
import type { Operation } from '../contract/operation.ts'
import { confirmDelete } from './confirm.ts'
import type { Context } from './context.ts'
import { gatherInput, type Typed } from './gather-input.ts'

/** Names under which services tell phones, addresses and credentials, whatever the table says. */
const alwaysMasked = ['mobile', 'phone', 'email', 'api_key', 'apiKey', 'secret', 'token', 'password']

/** Runs one operation of the table: gather, confirm, send or only print, show; `look` sees what came back. */
export const runOperation = async (
  operation: Operation,
  typed: Typed,
  context: Context,
  look?: (data: unknown) => void,
): Promise<void> => {
  const { input, extra } = await gatherInput(operation, typed, context)
  if (typed.options.dryRun) {
    const { showDryRun } = await import('./dry-run.ts')
    return showDryRun(operation, input, extra, context)
  }
  if (operation.effect === 'delete') await confirmDelete(operation, input, typed.options, context)

  const client = await context.client()
  const { envelope } = await client.call(operation, input, { extra, signal: context.io.signal })
  const output = await context.output()
  const once = answerFieldsWith(operation, 'secret')
  if (operation.effect !== 'read' && operation.data) output.note(envelope.message)
  await output.show(envelope, {
    columns: operation.columns,
    folded: operation.folded,
    // What is shown once is on the screen and nowhere else.
    paged: operation.effect === 'read' && once.size === 0,
    masked: new Set([
      ...answerFieldsWith(operation, 'personal'),
      ...(operation.effect === 'read' ? alwaysMasked : []),
    ]),
  })
  if (once.size > 0) output.note('Shown once: keep it now.')
  look?.(envelope.data)
}

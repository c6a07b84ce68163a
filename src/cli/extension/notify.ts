import { recordIn } from '../../client/answer-data.ts'
import { sleepFor } from '../../core/sleep.ts'
import { outbox, type MessageRecord } from '../../contract/outbox.ts'
import { SvcError } from '../../core/errors.ts'
import { exitCode } from '../../core/exit-codes.ts'
import { safeLine } from '../../core/safe-text.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { checkShown } from '../operation/run-operation.ts'
import type { Context } from '../context/context.ts'
import type { Typed } from '../program/define-command.ts'
import type { Extensions } from '../operation/operation-command.ts'
import { sameService } from '../program/command-line.ts'
import { callTyped } from '../operation/typed-names.ts'

const pollMs = 300
/** Longer than one attempt of the service can take. */
const longestMs = 45_000

const isUnderWay = ({ state }: MessageRecord): boolean => state === 'queued' || state === 'sending'

const messageFields = ['message_id', 'channel', 'recipient', 'state']

const showHint = ({ message_id }: MessageRecord, { globals }: Context): string =>
  `svc notify outbox show ${shellQuote(message_id)}${sameService(globals)}`

/** Polls the message until it is finished, or for as long as an attempt can take. */
const follow = async (message: MessageRecord, context: Context): Promise<MessageRecord> => {
  const { io } = context
  const client = await context.client()
  const { message_id } = message
  let last = message
  for (const until = Date.now() + longestMs; isUnderWay(last) && Date.now() < until;) {
    await sleepFor(pollMs, io.signal)
    const answer = await client.call(outbox.getMessage, { message_id }, { signal: io.signal })
    last = recordIn(outbox.getMessage, answer, messageFields)
  }
  return last
}

const testDelivery = async (typed: Typed, context: Context): Promise<void> => {
  const { io } = context
  const { gatherInput } = await import('../operation/gather-input.ts')
  await checkShown(outbox.testDelivery, context)
  const { input, extra } = await gatherInput(outbox.testDelivery, typed, context)
  const [output, client] = [await context.output(), await context.client()]
  const answer = await callTyped(client, outbox.testDelivery, input, { extra, signal: io.signal })
  const accepted = recordIn(outbox.testDelivery, answer, messageFields)
  let last: MessageRecord
  try {
    last = await follow(accepted, context)
  } catch (error) {
    if (error instanceof SvcError && error.exit === 'interrupted')
      throw new SvcError('interrupted', 'interrupted', 'Interrupted; the message is still being sent', {
        hint: showHint(accepted, context),
      })
    throw error
  }
  const reason = last.error === null ? '' : `: ${safeLine(last.error)}`
  const message = `${last.channel} to ${safeLine(last.recipient)} is ${last.state}${reason}`
  await output.report(message, last, {
    columns: ['message_id', 'channel', 'recipient', 'state', 'provider_id', 'error'],
  })
  if (last.state === 'sent') return
  output.warn(message)
  context.exitCode = exitCode(isUnderWay(last) ? 'pending' : 'failed')
}

/** `svc notify test`: the operation only accepts the message; this waits for its delivery. */
export const deliveries: Extensions = new Map([
  [
    outbox.testDelivery,
    {
      note: 'Waits for the delivery: exit 0 sent, 1 failed, 8 still waiting.',
      action: async (typed, context) => {
        if (!typed.options['dryRun']) return testDelivery(typed, context)
        const { runOperation } = await import('../operation/run-operation.ts')
        return runOperation(outbox.testDelivery, typed, context)
      },
    },
  ],
])

import { outbox } from '../../contract/outbox.ts'
import { SvcError } from '../../core/errors.ts'
import { shellWord } from '../../core/shell-word.ts'
import type { Context } from '../context.ts'
import { rowsOf } from '../output/payload.ts'
import { failed, note, ok, warn, type Finding } from './finding.ts'

type Channel = { channel?: unknown; ready?: unknown; waiting?: unknown; given_up?: unknown }

const about = ({ channel, ready, waiting, given_up }: Channel): Finding => {
  const name = String(channel)
  if (ready !== true)
    return note(
      'delivery',
      `${name} is not set up`,
      'svc help configuration > svc.yaml, then svc serve --config svc.yaml',
    )
  if (Number(waiting) > 0 || Number(given_up) > 0)
    return warn(
      'delivery',
      `${name}: ${Number(waiting)} waiting for another attempt, ${Number(given_up)} failed within a day`,
      `svc notify outbox list --channel ${shellWord(name)} --state ${Number(given_up) > 0 ? 'dead' : 'queued'}`,
    )
  return ok('delivery', `${name} is set up, and no message is waiting`)
}

/** Whether messages go out; only our own service tells. */
export const checkDelivery = async (context: Context): Promise<Finding[]> => {
  const client = await context.client()
  try {
    const { envelope } = await client.call(outbox.listChannels, {}, { signal: context.io.signal })
    return rowsOf(envelope.data).map(about)
  } catch (error) {
    if (error instanceof SvcError && error.exit === 'notFound')
      return [note('delivery', 'this service does not report it')]
    return [failed('delivery', error)]
  }
}

import { rowsIn } from '../../client/answered.ts'
import type { Data } from '../../contract/operation.ts'
import { outbox } from '../../contract/outbox.ts'
import { SvcError } from '../../core/errors.ts'
import { shellWord } from '../../core/shell-word.ts'
import type { Context } from '../context/context.ts'
import { failed, isUnsaid, note, ok, warn, type Finding } from './finding.ts'

type Channel = Data<typeof outbox.listChannels>[number]

const isTold = ({ channel, ready }: Channel): boolean =>
  typeof channel === 'string' && typeof ready === 'boolean'

const about = ({ channel: name, ready, waiting, given_up }: Channel): Finding => {
  if (!ready)
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

const unsaid = note('delivery', 'this service does not report it')

/** Whether messages go out; only our own service tells. */
export const checkDelivery = async (context: Context): Promise<Finding[]> => {
  const client = await context.client()
  try {
    const answer = await client.call(outbox.listChannels, {}, { signal: context.io.signal })
    const rows = rowsIn(outbox.listChannels, answer)
    return rows.every(isTold) ? rows.map(about) : [unsaid]
  } catch (error) {
    if (isUnsaid(error)) return [unsaid]
    if (error instanceof SvcError && error.code === 'scope_missing')
      return [note('delivery', 'not shown: this key lacks the scopes "read" and "notify"')]
    return [failed('delivery', error)]
  }
}

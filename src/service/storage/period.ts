import { addMs } from '../../core/iso-time.ts'
import type { Storage } from './storage.ts'

/** Clocks of timers are not exact: the node that did the work last must not miss its next turn by a moment. */
const early = 0.9

/**
 * Whether this process does its periodic work now. On a shared store, one node does in each period: the first one that asks.
 */
export const takePeriod = async (
  { shared, write, now }: Pick<Storage, 'shared' | 'write' | 'now'>,
  work: string,
  everyMs: number,
): Promise<boolean> => {
  if (!shared) return true
  const value = now()
  const taken = await write(
    (db) =>
      db
        .insertInto('settings')
        .values({ name: `last ${work}`, value })
        .onConflict((on) =>
          on
            .column('name')
            .doUpdateSet({ value })
            .where(({ eb, or }) =>
              or([
                eb('settings.value', '<=', addMs(value, -everyMs * early)),
                // Written by a wrong clock. A node can be a moment ahead of another.
                eb('settings.value', '>', addMs(value, everyMs)),
              ]),
            ),
        )
        .returning('name')
        .executeTakeFirst(),
    { org: null, routine: true },
  )
  return taken !== undefined
}

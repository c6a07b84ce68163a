import { safeLine } from '../../core/safe-text.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'

/** What counts again after a restore, as the maintenance of a store returns it. */
type Returned = {
  until: string | null
  counts: { keys: number; devices: number }
  keys: { id: number; name: string; org_id: number | null; created_at: string }[]
  devices: { id: number; name: string; org_id: number; user_id: number; registered_at: string }[]
}

export const report = async (
  context: Context,
  message: string,
  data: Record<string, unknown>,
  once: readonly string[] = [],
): Promise<void> => {
  context.changed = true
  const output = await context.output()
  output.note(message)
  await output.report(message, data, { once: new Set(once) })
}

export const reportDryRun = async (context: Context, data: Record<string, unknown>): Promise<void> =>
  (await context.output()).reportDryRun('Nothing was changed', data)

/** Lists what counts again after a restore. A backup cannot know what was revoked after it, so somebody has to compare. */
export const noteReturned = async (
  context: Context,
  { until, counts, keys, devices }: Returned,
): Promise<void> => {
  const { warn } = await context.output()
  warn(
    `What was revoked${until === null ? ' since' : ` after ${until}`} is active again. Compare this list with the audit log of the store that you replaced, or with your records, and revoke the rest before anybody can reach the service`,
  )
  const rest = (shown: readonly unknown[], all: number, command: string): void => {
    if (all > shown.length) warn(`  and ${all - shown.length} more: ${command}`)
  }
  for (const { id, name, org_id, created_at } of keys) {
    const of = org_id === null ? 'the service' : `organization ${org_id}`
    warn(
      `  key ${id} "${safeLine(name)}" of ${of}, created at ${created_at}: svc key revoke ${shellQuote(String(id))}`,
    )
  }
  rest(keys, counts.keys, 'svc key list')
  for (const { id, name, org_id, user_id, registered_at } of devices)
    warn(
      `  device ${id} "${safeLine(name)}" of user ${user_id}, registered at ${registered_at}: svc user devices revoke ${shellQuote(String(id))} --org ${shellQuote(String(org_id))}`,
    )
  rest(devices, counts.devices, 'svc user devices list <user-id>')
}

import { rowsIn } from '../../client/answer-data.ts'
import type { Client } from '../../client/client.ts'
import { approval } from '../../contract/approval.ts'
import { node } from '../../contract/node.ts'
import type { Operation } from '../../contract/operation.ts'
import { outbox } from '../../contract/outbox.ts'
import { SvcError } from '../../core/errors.ts'
import { isUnsupported } from '../context/own-key.ts'

/** A part of the screen: its rows, or why it cannot be shown. */
export type Panel = { rows: Record<string, unknown>[] } | { missing: string }

export type Snapshot = { pending: Panel; decisions: Panel; channels: Panel; messages: Panel; nodes: Panel }

/** More than a screen shows. */
const most = 50

/** What is wrong with one part, so that the others are still shown. An unreachable service concerns all of them. */
const whyMissing = (error: unknown): string => {
  if (!(error instanceof SvcError)) throw error
  if (error.exit === 'forbidden') return `not shown: ${error.message}`
  if (isUnsupported(error)) return 'not shown: this service does not offer it'
  throw error
}

/** Reads everything that the screen shows. Throws if the service cannot be reached. */
export const readSnapshot = async (
  client: Client,
  org_id: number | undefined,
  signal: AbortSignal,
): Promise<Snapshot> => {
  const read = async (operation: Operation, input: Record<string, unknown> = {}): Promise<Panel> => {
    try {
      return { rows: rowsIn(operation, await client.call(operation, input, { signal })) }
    } catch (error) {
      return { missing: whyMissing(error) }
    }
  }
  const [pending, newest, channels, messages, nodes] = await Promise.all([
    read(approval.listApprovals, { status: 'pending', limit: most, org_id }),
    read(approval.listApprovals, { limit: most, org_id }),
    read(outbox.listChannels),
    read(outbox.listOutbox, { limit: most, org_id }),
    read(node.listNodes),
  ])
  const decisions =
    'missing' in newest ? newest : { rows: newest.rows.filter(({ status }) => status !== 'pending') }
  return { pending, decisions, channels, messages, nodes }
}

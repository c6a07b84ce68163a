import { z } from 'zod/mini'

/** A request and the people it asks; without `request_id`, only people, whose pages must check their sessions. */
const wakeTarget = z.strictObject({
  request_id: z.optional(z.string()),
  org_id: z.int(),
  users: z.array(z.int()),
})

export type WakeTarget = z.infer<typeof wakeTarget>

const nodeMessage = z.discriminatedUnion('kind', [
  /** A commit that somebody may wait for. */
  z.strictObject({ kind: z.literal('wake'), value: wakeTarget }),
  /** Messages may have been lost. */
  z.strictObject({ kind: z.literal('lost'), value: z.literal(true) }),
  /** A hash that names the tool call that its client cancelled. */
  z.strictObject({ kind: z.literal('cancel'), value: z.string() }),
  /** The requests that each caller and organization made since the last message. */
  z.strictObject({ kind: z.literal('requests'), value: z.record(z.string(), z.int()) }),
])

/** What a node tells the others. A message may be lost, so everything also happens without it, only later. */
export type NodeMessage = z.infer<typeof nodeMessage>

export const lost: NodeMessage = { kind: 'lost', value: true }

const notification = z.strictObject({ from: z.string(), messages: z.array(nodeMessage) })

export type Notification = z.infer<typeof notification>

/** Whoever can connect to the database can send anything, so it is checked. Throws for what no node sends. */
export const readNotification = (payload: string | undefined): Notification =>
  notification.parse(JSON.parse(payload ?? ''))

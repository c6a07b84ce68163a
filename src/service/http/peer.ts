import type { Context } from 'hono'

type Socket = { remoteAddress?: string; localPort?: number }

/** The connection that a request came over; undefined in a process that serves none. */
export const socketOf = (context: Context): Socket | undefined =>
  (context.env as { incoming?: { socket: Socket } } | undefined)?.incoming?.socket

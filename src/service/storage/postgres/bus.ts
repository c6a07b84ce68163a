import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { connectionTo } from './connection.ts'
import { lost, type NodeMessage, type Notification, readNotification } from '../node-message.ts'
import type { DatabaseServer } from './database-url.ts'

const channel = 'svc'
/** PostgreSQL refuses a notification of 8000 bytes. */
const bytesAtMost = 7_000
const reconnectMs = 500

type Receive = (message: NodeMessage) => void

/**
 * Messages between the nodes on a database, by NOTIFY on a connection of its own. They are sent after the commit that they are
 * about, and together for one turn of the event loop: inside the transaction, NOTIFY takes a lock of the whole cluster.
 */
export const createBus = (server: DatabaseServer) => {
  const node = randomUUID()
  const receivers = new Set<Receive>()
  let client: pg.Client | undefined
  /** One that does not listen yet. */
  let opening: pg.Client | undefined
  let waiting: NodeMessage[] = []
  let scheduled = false
  let closed = false
  let retry: NodeJS.Timeout | undefined

  const deliver = (message: NodeMessage): void => {
    for (const receive of receivers) receive(message)
  }

  const receive = (payload: string | undefined): void => {
    try {
      const { from, messages } = readNotification(payload)
      if (from !== node) for (const message of messages) deliver(message)
    } catch {
      deliver(lost)
    }
  }

  const connectLater = (): void => {
    if (closed || retry) return
    retry = setTimeout(() => {
      retry = undefined
      connect().then(tellLost, connectLater)
    }, reconnectMs)
  }

  const connect = async (): Promise<void> => {
    const next = new pg.Client({ ...connectionTo(server), application_name: 'svc bus' })
    next.on('notification', ({ payload }) => receive(payload))
    next.on('error', () => undefined)
    next.once('end', () => {
      if (client === next) [client, waiting] = [undefined, []]
      connectLater()
    })
    opening = next
    try {
      await next.connect()
      await next.query(`listen ${channel}`)
      client = next
    } catch (error) {
      await next.end().catch(() => undefined)
      throw error
    } finally {
      opening = undefined
    }
  }

  /** What was sent to this node, or by it, without a connection. */
  const tellLost = (): void => {
    deliver(lost)
    publish(lost)
  }

  const publish = (message: NodeMessage): void => {
    // Without a connection it would wait for a listener that polls by then.
    if (client) waiting.push(message)
    schedule()
  }

  const schedule = (): void => {
    if (scheduled || !client || waiting.length === 0) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      send()
    })
  }

  /** As many of the waiting messages as fit into one notification. */
  const take = (): NodeMessage[] => {
    const messages: NodeMessage[] = []
    for (let bytes = 0; waiting.length > 0;) {
      bytes += Buffer.byteLength(JSON.stringify(waiting[0])) + 1
      if (bytes > bytesAtMost && messages.length > 0) break
      messages.push(waiting.shift()!)
    }
    return messages
  }

  const send = (): void => {
    for (let messages = take(); messages.length > 0; messages = take()) {
      const notification: Notification = { from: node, messages }
      // A lost connection is opened again, and the other nodes poll.
      client
        ?.query('select pg_notify($1, $2)', [channel, JSON.stringify(notification)])
        .catch(() => undefined)
    }
  }

  return {
    connect,
    publish,
    subscribe: (receiver: Receive): void => void receivers.add(receiver),
    close: async (): Promise<void> => {
      closed = true
      clearTimeout(retry)
      send()
      await Promise.all([client?.end(), opening?.end()])
    },
  }
}

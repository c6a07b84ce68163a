import type { ServerResponse } from 'node:http'

// Node limits the time of a client that sends slowly, but not of one that reads slowly, or not at all: its response stays in
// memory, and its connection open.

/** What was sent and the client has not read completely: a response, or the part of a long list that was last read. */
type Unread = { since: number; bytes: number }

const patienceMs = 30_000
/** The slowest network that still gets a long list. */
const bytesPerMs = 32
/** Of all clients together. */
const unreadAtMost = 64 * 1024 * 1024

const msFor = ({ bytes }: Unread): number => patienceMs + bytes / bytesPerMs

/** Closes the connections of clients that do not read their responses. */
export const createSlowReaders = () => {
  const open = new Map<ServerResponse, Unread | undefined>()
  return {
    watch: (response: ServerResponse): void => {
      open.set(response, undefined)
      // The client has read one part of a list, and gets the next.
      response.on('drain', () => open.has(response) && open.set(response, undefined))
    },
    /** To be called when the response is closed. */
    forget: (response: ServerResponse): void => void open.delete(response),
    /** `now` in milliseconds. To be called regularly. */
    check: (now: number): void => {
      let bytes = 0
      const waiting: [ServerResponse, Unread][] = []
      for (const [response, known] of open) {
        const left = response.writableLength
        const unread =
          left === 0 ? undefined : { since: known?.since ?? now, bytes: Math.max(left, known?.bytes ?? 0) }
        open.set(response, unread)
        if (!unread) continue
        bytes += left
        waiting.push([response, unread])
      }
      // Whoever has waited longest reads slowest.
      for (const [response, unread] of waiting.toSorted(([, one], [, other]) => one.since - other.since)) {
        if (bytes <= unreadAtMost && now - unread.since < msFor(unread)) continue
        bytes -= response.writableLength
        response.socket?.destroy()
      }
    },
  }
}

import type { Fields } from './message.ts'

/** The server behind the gate. */
export type Upstream = {
  /** Sends one message: these bytes, and nothing else. `fields` is what they say, and `headers` repeat parts of it over HTTP. */
  send(bytes: Buffer, fields: Fields, headers?: Record<string, string>): void
  /** Resolves when the server is gone, with the reason. */
  ended: Promise<string>
  /** Lets the server finish, and ends it and all its processes if it does not. */
  finish(): Promise<void>
}

/** Called with each message of the server, as bytes without the end of the line. */
export type OnMessage = (bytes: Buffer) => void

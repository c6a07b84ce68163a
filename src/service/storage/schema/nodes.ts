/** A node that has not reported for this long, which is three reports, is lost. */
export const lostAfterS = 15

export type NodesTables = {
  /** The processes that use the store, as each last reported itself. Of a store that several processes share. */
  nodes: {
    id: string
    /** Host and port. */
    address: string
    state: 'serving' | 'stopping'
    /** Of svc. */
    version: string
    /** The newest schema that it knows. */
    schema_version: number
    started_at: string
    seen_at: string
    /** Requests in progress, and callers that wait for a decision. */
    requests: number
    waiting: number
    writes_per_second: number
    /** Connections to the database that are in use, and the most that it opens. */
    connections: number
    connections_limit: number
  }
}

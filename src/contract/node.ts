import * as z from 'zod/mini'
import { chosen } from './field.ts'
import { operations } from './declaration.ts'
import { time } from './records.ts'

// The processes of the service, under /svc/v1. spec: not shown

const nodeRecord = z.strictObject({
  id: chosen(z.string(), 'Process id and a random part; a restart has another one'),
  address: chosen(
    z.string(),
    'Its own name and port, to tell nodes apart; other machines may not reach it there',
  ),
  state: chosen(
    z.enum(['serving', 'stopping', 'lost']),
    'lost: it has not reported for 15 seconds; its row is removed after 10 minutes',
  ),
  version: chosen(z.string(), 'Version of svc'),
  schema_version: chosen(z.int(), 'The newest schema of the store that it knows'),
  started_at: chosen(time, 'When it started'),
  seen_at: chosen(time, 'When it last reported'),
  lag_s: chosen(z.number(), 'Seconds since then'),
  requests: chosen(z.int(), 'Requests in progress'),
  waiting: chosen(z.int(), 'Callers that wait for a decision'),
  writes_per_second: chosen(z.number(), 'Committed writes, averaged since the report before'),
  connections: chosen(z.int(), 'Connections of its pool in use; 0 for an embedded store'),
  connections_limit: chosen(
    z.int(),
    'Size of its pool, without the connection that listens to the other nodes; 0 for an embedded store',
  ),
})
export type NodeRecord = z.infer<typeof nodeRecord>

export const node = operations({
  listNodes: {
    route: 'GET /svc/v1/nodes',
    cli: 'service nodes',
    scope: 'read',
    operator: true,
    summary: 'List the running nodes of a service, with their version and load',
    message: 'Nodes',
    data: z.array(nodeRecord),
    columns: ['id', 'address', 'state', 'version', 'lag_s', 'requests', 'waiting'],
  },
})

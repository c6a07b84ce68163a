import type { OperationId } from '../../src/contract/table.ts'
import type { Cluster } from './cluster.ts'
import { call, exampleInput, must, type Reply } from './requests.ts'

/** Two organizations on the nodes of a cluster, and how to send something to several nodes at the same time. */
export type Arena = {
  cluster: Cluster
  /** How many requests race. */
  width: number
  acme: { id: number; key: string }
  beta: { id: number; key: string }
  /** Of an operator key that is valid now. */
  operator: string
  /** Sends to the node with this number, modulo their count. */
  send(
    node: number,
    id: OperationId,
    input: Record<string, unknown>,
    more?: { key?: string; headers?: Record<string, string> },
  ): Promise<Reply>
  /** Sends as many requests as race, each to the next node. */
  race(request: (node: number) => Promise<Reply>): Promise<Reply[]>
}

export const createArena = async (cluster: Cluster): Promise<Arena> => {
  const width = Math.max(3, cluster.nodes.length)
  const { baseUrl } = cluster.nodes[0]!
  const add = async (name: string) => {
    const { id } = await must(call(baseUrl, 'createOrganization', cluster.key, { name, slug: name }))
    const input = { name, org_id: id, scopes: ['all'] }
    return { id, key: (await must(call(baseUrl, 'createKey', cluster.key, input))).key }
  }
  const arena: Arena = {
    cluster,
    width,
    acme: await add('acme'),
    beta: await add('beta'),
    operator: cluster.key,
    send: (node, id, input, { key = arena.operator, headers = {} } = {}) =>
      call(cluster.nodes[node % cluster.nodes.length]!.baseUrl, id, key, input, headers),
    race: (request) => Promise.all(Array.from({ length: width }, (_, node) => request(node))),
  }
  return arena
}

export const dataOf = <T = { id: number; key: string }>({ status, text, body }: Reply): T => {
  if (status !== 200) throw new Error(`Preparing failed: ${status} ${text}`)
  return body.data as T
}

export const successes = (replies: readonly Reply[]): Reply[] =>
  replies.filter(({ status }) => status === 200)

/** The first answer that no client may ever get. */
export const oddOf = (replies: readonly Reply[]): string | undefined =>
  replies.find(({ status }) => status >= 500)?.text

/** What is wrong if not exactly `count` of the requests succeed. */
export const exactly = (count: number, replies: readonly Reply[]): string | undefined =>
  oddOf(replies) ??
  (successes(replies).length === count
    ? undefined
    : `answers ${replies.map(({ status }) => status).join(' ')}`)

export const member = (org: number, more: Record<string, unknown> = {}) => ({
  ...exampleInput('createUser'),
  orgId: org,
  ...more,
})

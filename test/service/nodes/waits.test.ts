import { beforeAll, describe, expect, test } from 'vitest'
import { unavailable } from '../../../src/service/storage/storage.ts'
import { ask, createApprover, decide, show, type Approver } from '../approver.ts'
import { createTenant, dataOf } from '../fixtures.ts'
import type { Answer, TestService } from '../harness.ts'
import { onPostgres } from '../storage/postgres-databases.ts'
import { installHooks, nodes } from './nodes.ts'

/** A wait for a request at a node, which has begun when this resolves. */
const startWait = async (node: TestService, id: string, seconds: number, key: string) => {
  const { listen } = node.service.signals
  const begun = new Promise<void>((resolve) => {
    node.service.signals.listen = (topics) => {
      resolve()
      return listen(topics)
    }
  })
  const answer: Promise<Answer> = node.call('GET', `/svc/v1/approvals/${id}?wait_s=${seconds}`, { key })
  await begun
  node.service.signals.listen = listen
  return { answer }
}

/** Lets the reads of a node fail until `end`; `failed` resolves after the first. */
const startOutage = ({ service: { storage } }: TestService) => {
  const { read } = storage
  let note!: () => void
  const failed = new Promise<void>((resolve) => (note = resolve))
  storage.read = async () => {
    note()
    throw unavailable(new Error('connection refused'), 'Try again')
  }
  return { failed, end: () => void (storage.read = read) }
}

describe.runIf(onPostgres())('a wait at one node', () => {
  installHooks({ dev: true })
  let acme: { id: number; key: string }
  let approver: Approver
  let count = 0
  beforeAll(async () => {
    acme = await createTenant(nodes[0]!, 'acme')
  })

  /** A request to a new approver, and a wait for it at the first node. */
  const asked = async (seconds = 30, key = acme.key) => {
    approver = await createApprover(nodes[0]!, acme.id, (count += 1))
    const id: string = dataOf(await ask(nodes[1]!, approver, {}, key)).request_id
    return { id, waiting: (await startWait(nodes[0]!, id, seconds, key)).answer }
  }

  test('ends with a decision at another node', async () => {
    const { id, waiting } = await asked()
    dataOf(await decide(nodes[1]!, id, approver.key))
    expect(dataOf(await waiting).status).toBe('approved')
  })

  test('ends with a decision whose message was lost', async () => {
    const { id, waiting } = await asked()
    const { publish } = nodes[1]!.storage
    nodes[1]!.storage.publish = () => undefined
    dataOf(await decide(nodes[1]!, id, approver.key))
    expect(dataOf(await waiting).status).toBe('approved')
    nodes[1]!.storage.publish = publish
  })

  test('ends when the request is cancelled at another node', async () => {
    const { id, waiting } = await asked()
    dataOf(await nodes[2]!.call('POST', `/svc/v1/approvals/${id}/withdraw`, { key: acme.key }))
    expect(dataOf(await waiting).status).toBe('expired')
  })

  test('ends when its key is revoked at another node', async () => {
    const { id, key } = dataOf(
      await nodes[1]!.call('POST', '/svc/v1/keys', {
        body: { name: 'short', org_id: acme.id, scopes: ['ask'] },
      }),
    )
    const { waiting } = await asked(30, key)
    dataOf(await nodes[2]!.call('DELETE', `/svc/v1/keys/${id}`))
    expect((await waiting).body.data.status).toBe('expired')
  })

  test('outlasts an outage of the store', async () => {
    const { id, waiting } = await asked()
    const outage = startOutage(nodes[0]!)
    dataOf(await decide(nodes[1]!, id, approver.key))
    await outage.failed
    outage.end()
    expect(dataOf(await waiting).status).toBe('approved')
  })

  test('reports an outage that is longer, and not what may no longer be true', async () => {
    const { waiting } = await asked(1)
    const outage = startOutage(nodes[0]!)
    const { status, body } = await waiting
    outage.end()
    expect([status, body.data.code]).toEqual([503, 'storage_unavailable'])
  })

  test('does not begin during an outage', async () => {
    const { id } = dataOf(await nodes[0]!.call('GET', '/svc/v1/whoami', { key: acme.key }))
    expect(id).toBeDefined()
    const outage = startOutage(nodes[0]!)
    const { status } = await show(nodes[0]!, 'apr_x?wait_s=30', acme.key)
    outage.end()
    expect(status).toBe(503)
  })
})

import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPerson, remote } from '../e2e/person.ts'
import { outcome, startSvc, svc } from '../e2e/processes.ts'
import { onTerminal } from '../e2e/terminal.ts'
import { fence } from '../service/fixtures.ts'
import { type PostgresServer, startPostgres } from '../service/storage/postgres-server.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { type Node, operator, startBalancer, startNode, toolToken } from './nodes.ts'

const folder = temporaryFolder()
let database: PostgresServer
let url: string
let balancer: Awaited<ReturnType<typeof startBalancer>>
let nodes: Node[] = []
/** Was killed before the nodes are restarted, because it takes a while until the others know it as lost. */
let victim: Node
let env: Record<string, string>

const start = async (): Promise<Node> => {
  const node = await startNode(url, ['--public-url', balancer.origin, '--drain', '3'])
  await balancer.add(node)
  return node
}

beforeAll(async () => {
  database = await startPostgres({ durable: true })
  const client = new pg.Client({ connectionString: database.url('postgres') })
  await client.connect()
  await client.query('create database svc')
  await client.end()
  url = database.url('svc')
  balancer = await startBalancer()
  nodes = await Promise.all([start(), start(), start()])
  env = {
    SVC_BASE_URL: `${balancer.origin}/admin/public/api`,
    SVC_API_KEY: operator,
    SVC_CONFIG_DIR: folder.path,
  }
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop('SIGKILL')))
  balancer.stop()
  database.stop()
  folder.remove()
})

type Listed = {
  id: string
  address: string
  state: string
  version: string
  schema_version: number
  lag_s: number
}

const listNodes = async (): Promise<Listed[]> => {
  const { exit, stdout, stderr } = await svc('service nodes -o json', env)
  if (exit !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as Listed[]
}

test('svc service nodes lists every node, and only for the operator', async () => {
  await expect
    .poll(async () => (await listNodes()).map(({ state }) => state))
    .toEqual(Array(3).fill('serving'))
  const listed = await listNodes()
  const ports = listed.map(({ address }) => address.split(':').at(-1)).sort()
  expect(ports).toEqual(nodes.map(({ origin }) => new URL(origin).port).sort())
  expect(new Set(listed.map(({ version }) => version)).size).toBe(1)
  const { screen } = await onTerminal(['service', 'nodes'], env, [], { rows: 50, columns: 80 })
  for (const { id, address } of listed) expect(screen).toContain(`${id}  ${address}  serving`)
  expect(listed.map(({ id }) => Number(id.split('-')[0])).sort()).toEqual(nodes.map(({ pid }) => pid).sort())
  const key = await svc('key create --name reader --can read --jq .key', env)
  const refused = await svc('service nodes', { ...env, SVC_API_KEY: key.stdout.trim() })
  expect([refused.exit, refused.stderr]).toEqual([4, expect.stringContaining('operator')])
})

const portOf = ({ origin }: Node): string => new URL(origin).port
const stateOf = async (node: Node): Promise<string | undefined> =>
  (await listNodes()).find(({ address }) => address.endsWith(`:${portOf(node)}`))?.state

test('a node that has just been killed is not yet known as lost', async () => {
  victim = await start()
  await expect.poll(() => stateOf(victim)).toBe('serving')
  balancer.remove(victim)
  await victim.stop('SIGKILL')
  expect(await stateOf(victim)).toBe('serving')
})

test('a restart of every node in turn loses no request, no wait and no tool call', async () => {
  const service = remote(`${balancer.origin}/admin/public/api`, operator)
  const ada = await createPerson(service, 1)
  const grace = await createPerson(service, 2)
  const request = await svc(
    ['approve', 'submit', 'Deploy 4.2', '--org', ada.org.slug, '--to', ada.mobile, '--jq', '.request_id'],
    env,
  )
  expect(request.exit).toBe(0)
  const waiting = outcome(startSvc(['approve', 'wait', request.stdout.trim(), '--timeout', '120'], env))
  const tool = fetch(`${balancer.origin}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${toolToken}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'request_approval',
        arguments: { action: 'Deploy 4.3', approver_mobile: grace.mobile, timeout_s: 100 },
      },
    }),
  }).then((response) => response.text())
  const asked = await grace.waitForRequest()

  const answers: unknown[] = []
  const over = new AbortController()
  const writers = Array.from({ length: 6 }, async (_, writer) => {
    for (let n = 0; !over.signal.aborted; n += 1) {
      const body = { ...fence, is_active: 0, name: `Office ${writer}-${n}` }
      const { status, body: answer } = await service
        .call('POST', `/organization/${ada.org.id}/create/geo-fence`, { body })
        .catch(({ cause }: Error) => ({ status: 0, body: String(cause) }))
      answers.push(status === 200 ? 200 : { name: body.name, status, answer })
    }
  })
  const exits: (number | null)[] = []
  for (const old of nodes) {
    nodes = [...nodes, await start()]
    exits.push(await old.stop())
    balancer.remove(old)
    nodes = nodes.filter((node) => node !== old)
  }
  over.abort()
  await Promise.all(writers)
  expect(exits).toEqual([0, 0, 0])
  expect(answers.length).toBeGreaterThan(20)
  const lost = answers.filter((answer) => answer !== 200)
  expect(lost).toEqual([])

  // The node that the tool call waited at has stopped: the caller knows the request, which is still pending.
  expect(await tool).toContain(asked)
  expect((await grace.requests('pending')).map(({ request_id }) => request_id)).toEqual([asked])
  await ada.answer()
  expect(await waiting).toMatchObject({ exit: 0, stdout: expect.stringContaining('approved') })
  await grace.answer()
  const ports = [...nodes, victim].map(portOf).toSorted()
  await expect
    .poll(async () => (await listNodes()).map(({ address }) => address.split(':').at(-1)).toSorted())
    .toEqual(ports)
})

test('a node that was killed is shown as lost', async () => {
  await expect.poll(() => stateOf(victim), { interval: 1_000 }).toBe('lost')
})

test('/health/ready is 503 while the database cannot be reached, and a stop still exits 0', async () => {
  const ready = async () => {
    const answer = await fetch(`${nodes[0]!.origin}/health/ready`)
    return [answer.status, await answer.json()]
  }
  expect(await ready()).toEqual([200, { ok: true }])
  database.process.kill('SIGQUIT')
  await expect.poll(ready).toEqual([503, { ok: false, reason: 'storage_unavailable' }])
  const started = performance.now()
  expect(await nodes.pop()!.stop()).toBe(0)
  expect(performance.now() - started).toBeLessThan(15_000)
})

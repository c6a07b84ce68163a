import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { type BodyLimit, bodyLimitOf, toolCallLimit } from '../../src/service/http/body.ts'
import { routeOf } from '../../src/service/http/routes.ts'
import { bin } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { type LoopChild, startLoopChild } from './loop-child.ts'
import { operationIds, operationOf } from './requests.ts'
import type { Result, Torture } from './torture.ts'

const mostMs = 20
const rounds = 3
const mib = 1024 * 1024

const filled = (unit: string, bytes: number): string => unit.repeat(Math.floor((bytes - 4) / unit.length))

/** Content that is expensive to parse or to check, of about this many bytes. */
const bodiesOf = (bytes: number): Record<string, string> => ({
  'empty lists': `[${filled('[],', bytes)}[]]`,
  'one list of numbers': `[${filled('1,', bytes)}1]`,
  'empty objects in a field': `{"response":[${filled('{},', bytes - 20)}{}]}`,
  'unknown fields': `{${Array.from({ length: Math.floor(bytes / 12) }, (_, i) => `"${String(i).padStart(6, '0')}":1`).join(',')}}`,
  'nested lists': '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
  'one text': `{"token":"${filled('x', bytes - 20)}"}`,
  'escaped quotes': `{"token":"${filled('\\"', bytes - 20)}"}`,
  'texts with half characters': `{"response":["${filled('\\ud800","', bytes - 30)}"]}`,
})

/** Just within a limit, so that all of it is parsed and checked. */
const within = ({ kib, values }: BodyLimit): Record<string, string> => ({
  'as many lists as fit': `{"response":[${'[],'.repeat(Math.min(values / 2 - 10, (kib * 1024) / 3 - 20))}[]]}`,
  'as many fields as fit': `{${Array.from({ length: values - 10 }, (_, i) => `"f${i}":1`).join(',')}}`,
  'one long text': `{"token":"${filled('x', kib * 1024 - 20)}"}`,
  'one long name': `{"${filled('x', kib * 1024 - 20)}":1}`,
})

type Target = { path: string; limit: BodyLimit }

const openRoutes = (): Target[] =>
  operationIds
    .filter((id) => operationOf(id).open)
    .map((id) => ({
      path: routeOf(operationOf(id)).path.replaceAll(/:\w+/g, 'x'),
      limit: bodyLimitOf(operationOf(id)),
    }))

const post = async (url: string, body: string, chunked: boolean): Promise<string> => {
  const bytes = new TextEncoder().encode(body)
  const sent = chunked ? new Blob([bytes]).stream() : bytes
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'sec-fetch-site': 'same-origin',
      },
      body: sent,
      signal: AbortSignal.timeout(10_000),
      ...(chunked && { duplex: 'half' }),
    } as RequestInit)
    await response.arrayBuffer()
    return String(response.status)
  } catch {
    // The service answered and closed the connection before it had read everything.
    return 'connection closed'
  }
}

const pelt = async (child: LoopChild, targets: Target[]) => {
  const { origin } = new URL(String(child.ready.base_url))
  const hits: Record<string, number> = {}
  const examples: string[] = []
  let count = 0
  let failures = 0
  let longest = 0
  const one = async (path: string, name: string, body: string, chunked: boolean): Promise<void> => {
    let shortest = Infinity
    // Blocking work blocks every time, but a busy machine does not. So the shortest of several rounds counts.
    for (let round = 0; round < rounds && shortest > mostMs / 2; round++) {
      await child.longest()
      const status = await post(origin + path, body, chunked)
      hits[status] = (hits[status] ?? 0) + 1
      count++
      if (status.startsWith('5')) failures++
      shortest = Math.min(shortest, await child.longest())
    }
    longest = Math.max(longest, shortest)
    if (shortest <= mostMs) return
    failures++
    examples.push(`${path}, ${name}${chunked ? ', chunked' : ''}: ${shortest.toFixed(1)} ms`)
  }
  for (const { path, limit } of targets)
    for (const [name, body] of [...Object.entries(bodiesOf(mib)), ...Object.entries(within(limit))])
      for (const chunked of [false, true]) await one(path, name, body, chunked)
  return { count, failures, hits, longest, examples }
}

const withChild = async <T>(
  args: string[],
  env: Record<string, string>,
  work: (child: LoopChild) => Promise<T>,
): Promise<T> => {
  const child = await startLoopChild(args, env)
  try {
    return await work(child)
  } finally {
    await child.stop()
  }
}

const unlimited = fileURLToPath(new URL('unlimited-bodies.mts', import.meta.url))

export const torture: Torture = {
  name: 'Bodies of 1 MiB for every open route and for a local /mcp',
  must: `0 that block the event loop for more than ${mostMs} ms`,
  run: async (): Promise<Result> => {
    const folder = temporaryFolder()
    const serve = [bin, 'serve', '--port', '0', '--data-dir', folder.path, '--no-profile', '-o', 'json']
    const env = { SVC_BOOTSTRAP_API_KEY: `svc_op_torture_${randomBytes(24).toString('hex')}` }
    try {
      const real = await withChild(serve, env, async (child) => {
        const { origin } = new URL(String(child.ready.base_url))
        // The tool server is loaded once, on the first request.
        await post(`${origin}/mcp`, '{}', false)
        return pelt(child, [...openRoutes(), { path: '/mcp', limit: toolCallLimit }])
      })
      const control = await withChild(['--import', 'tsx', unlimited], {}, (child) =>
        pelt(child, openRoutes().slice(0, 1)),
      )
      return {
        count: real.count,
        failures: real.failures,
        hits: real.hits,
        control: control.failures,
        examples: [
          `longest: ${real.longest.toFixed(1)} ms; without limits ${control.longest.toFixed(1)} ms`,
          ...real.examples.slice(0, 8),
        ],
      }
    } finally {
      folder.remove()
    }
  },
}

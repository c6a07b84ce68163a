import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { assert } from '../../src/client/software-authenticator.ts'
import { challengeOf } from '../../src/receipt/context.ts'
import { type EnrolledApprover, enrollApprover, request } from '../torture/enrolled-approver.ts'
import type { Figure } from './figures.ts'
import { startService } from './service-child.ts'
import { beside, script } from './throughput.ts'

// Thousands of waits at one service: their memory, and how long after a decision the last of them are answered.

const onOne = 5_000
const requests = 200
const onEach = 25
/** As many as one key can have at one approver. */
const requestsPerApprover = 3
const waitS = 60

/** The memory of a process, in KiB. */
const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])

/** The clock of every process of this machine, in milliseconds. */
const now = (): number => Number(process.hrtime.bigint()) / 1e6

const at = (times: number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))]!

/** Waits that a process of their own holds open. */
type Held = {
  child: ChildProcess
  /** Ends the waits of a path, and returns how long each was answered after that, in milliseconds. */
  end(path: string, end: () => Promise<unknown>): Promise<number[]>
}

const hold = async (origin: string, key: string, paths: string[], each: number): Promise<Held> => {
  const argument = JSON.stringify({ origin, paths, each })
  const child = script('wait-clients.mts', [argument], {
    PATH: process.env['PATH'] ?? '',
    SVC_API_KEY: key,
  })
  const ended = new Map<string, (times: number[]) => void>()
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`The clients ended with ${code}`)))
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const { path, times } = JSON.parse(line) as { path?: string; times?: number[] }
      if (path === undefined) resolve()
      else ended.get(path)!(times!)
    })
  })
  return {
    child,
    end: async (path, end) => {
      const answered = new Promise<number[]>((resolve) => void ended.set(path, resolve))
      const began = now()
      await end()
      return (await answered).map((time) => time - began)
    },
  }
}

/** A request, and what decides it: signed before the time is taken. */
const prepare = async (
  baseUrl: string,
  operator: string,
  key: string,
  { mobile, authenticator }: EnrolledApprover,
) => {
  const { request_id } = await request(baseUrl, 'createApproval', key, { action: 'x', approvers: [mobile] })
  const input = { request_id, credential: authenticator.credential_id }
  const { contexts, origin, rp_id: rpId } = await request(baseUrl, 'getCeremony', operator, input)
  const challenge = challengeOf(new Uint8Array(Buffer.from(contexts.approve, 'base64url')))
  const response = assert(authenticator, { challenge, origin, rpId })
  const decide = () =>
    request(baseUrl, 'decideApproval', operator, { request_id, decision: 'approve', response })
  return { path: `/svc/v1/approvals/${request_id}?wait_s=${waitS}`, decide }
}

const floor = (): Promise<number[]> =>
  beside('bare-insert.ts', async ({ origin }) => {
    const { child, end } = await hold(origin, '', ['/wait/1'], onOne)
    try {
      const body = { method: 'POST', body: '{"name":"x"}' }
      return await end('/wait/1', () => fetch(`${origin}/end/1`, body))
    } finally {
      child.kill('SIGKILL')
    }
  })

export const waitFigures = async (): Promise<Figure[]> => {
  const bare = await floor()
  const service = await startService({}, ['--dev', '--drain', '0'])
  const { baseUrl, apiKey, pid } = service
  try {
    const { id: org_id } = await request(baseUrl, 'createOrganization', apiKey, { name: 'Acme' })
    const limit = 1_000_000
    await request(baseUrl, 'setLimits', apiKey, {
      org_id,
      key_requests_per_second: limit,
      requests_per_second: limit,
    })
    const { key } = await request(baseUrl, 'createKey', apiKey, { name: 'ci', org_id, scopes: ['ask'] })
    const asked: Awaited<ReturnType<typeof prepare>>[] = []
    while (asked.length <= requests) {
      const approver = await enrollApprover(baseUrl, apiKey, org_id)
      for (let n = 0; n < requestsPerApprover; n++) asked.push(await prepare(baseUrl, apiKey, key, approver))
    }
    const [one, ...others] = asked.slice(0, requests + 1)
    const { origin } = new URL(baseUrl)
    const waiting = async (count: number): Promise<void> => {
      for (;;) {
        const nodes = await request(baseUrl, 'listNodes', apiKey, {})
        if (nodes.reduce((sum, node) => sum + node.waiting, 0) >= count) return
        await pause(50)
      }
    }
    const before = memoryOf(pid)
    const ofOne = await hold(origin, key, [one!.path], onOne)
    const ofOthers = await hold(
      origin,
      key,
      others.map(({ path }) => path),
      onEach,
    )
    try {
      const count = onOne + requests * onEach
      await waiting(count)
      const each = (memoryOf(pid) - before) / count
      const times: number[] = []
      for (const { path, decide } of others) times.push(...(await ofOthers.end(path, decide)))
      const woken = await ofOne.end(one!.path, one!.decide)
      const p99 = at(woken, 0.99)
      const spoken = (all: number[]): string =>
        `p50 ${at(all, 0.5).toFixed(0)} ms, p99 ${at(all, 0.99).toFixed(0)} ms`
      return [
        {
          what: `memory of each of ${count} waits`,
          figure: each,
          unit: ' KB',
          must: 30,
          beyond: 12,
          more: false,
        },
        {
          what: `decision to the answers of ${onEach} waits, ${count} open, p99`,
          figure: at(times, 0.99),
          unit: ' ms',
          must: 100,
          beyond: 10,
          more: false,
        },
        {
          what: `decision to the answers of ${onOne} waits on it, ${spoken(woken)}, over a bare server, ${spoken(bare)}`,
          figure: p99 - at(bare, 0.99),
          unit: ' ms',
          must: 100,
          beyond: 10,
          more: false,
        },
      ]
    } finally {
      ofOne.child.kill('SIGKILL')
      ofOthers.child.kill('SIGKILL')
    }
  } finally {
    await service.end()
  }
}

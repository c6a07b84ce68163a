import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'
import { fillStore } from '../torture/fill-store.ts'
import { startService, svc, type Service } from './processes.ts'

const rows = 20_000
const key = 'svc_op_endtoend_0123456789012345678901234567890'
const folder = temporaryFolder()
let service: Service
let env: Record<string, string>

beforeAll(async () => {
  const first = await startService(folder.path, key)
  await svc(['org', 'create', '--name', 'Acme'], { SVC_BASE_URL: first.baseUrl, SVC_API_KEY: key })
  await first.stop()
  fillStore(folder.path, { org: 1, rows, users: 0 })
  service = await startService(folder.path, key)
  env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: key }
})
afterAll(async () => {
  await service.stop()
  folder.remove()
})

/** The most memory that the service had so far, MiB. */
const mostMib = (): number => {
  const text = readFileSync(`/proc/${service.process.pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+) kB/.exec(text)![1]) / 1024
}

const readWhole = async (): Promise<number> => {
  const url = new URL('/svc/v1/audit?org_id=1', service.baseUrl)
  const text = await (await fetch(url, { headers: { 'x-api-key': key } })).text()
  return (JSON.parse(text) as { data: unknown[] }).data.length
}

test.runIf(process.platform === 'linux')(
  'eight clients read 20,000 rows at once, and the service needs memory for a few of them',
  async () => {
    const before = mostMib()
    const counts = await Promise.all(Array.from({ length: 8 }, readWhole))
    expect(new Set(counts)).toEqual(new Set([rows + 1]))
    expect(mostMib() - before).toBeLessThan(100)
  },
)

test('svc audit verify and svc audit list read a chain of many pages', async () => {
  expect(await svc(['audit', 'verify', '--org', '1', '--jq', '.rows'], env)).toMatchObject({
    exit: 0,
    stdout: `${rows + 1}\n`,
  })
  const { stdout: lines } = await svc(['audit', 'list', '--org', '1', '--all', '-o', 'ndjson'], env)
  const seqs = lines
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { seq: number }).seq)
  expect(seqs).toEqual(Array.from({ length: rows + 1 }, (_, i) => rows + 1 - i))
})

/** The number of rows of this actor and one action. */
const countOf = async (actor: string, ...flags: string[]) => {
  const words = ['audit', 'list', '--org', '1', '--actor', actor, '--action', 'createUser', '-o', 'json']
  const { exit, stdout } = await svc([...words, ...flags], env)
  expect(exit).toBe(0)
  return (JSON.parse(stdout) as { subject: string }[]).length
}

test('filters that no index has together find every row in any part of a list, or that there is none', async () => {
  // Every seventh row is of this actor, and every fifth of this action.
  expect(await countOf('terminal 3 (key 3)', '--all')).toBe(572)
  expect(await countOf('terminal 3 (key 3)', '--limit', '100')).toBe(100)
  expect(await countOf('nobody', '--all')).toBe(0)
  expect(await countOf('nobody')).toBe(0)
})

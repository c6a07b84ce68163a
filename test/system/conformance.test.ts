import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startService, type Service } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const suite = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
)
const frozen = readFileSync(new URL('conformance-expected.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
const folder = temporaryFolder()
let service: Service

beforeAll(async () => {
  service = await startService(join(folder.path, 'data'), 'svc_op_conformance_0123456789012345678901234567')
})
afterAll(async () => {
  await service.stop()
  folder.remove()
})

type Check = { id: string; status: string }

/** Runs the suite and returns the result of each scenario. The suite needs Node 22, which comes from npm. */
const run = async (requirements: string): Promise<[scenario: string, checks: Check[]][]> => {
  const results = join(folder.path, requirements)
  const url = new URL('/mcp', service.baseUrl).href
  const node = ['--yes', '--package', 'node@22', 'node']
  const args = [suite, 'server', '--url', url, '--requirements', requirements, '--output-dir', results]
  const child = spawn('npx', [...node, ...args], { cwd: folder.path, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  await once(child, 'close')
  expect(output).toContain('=== SUMMARY ===')
  return readdirSync(results).map((name) => [
    name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, ''),
    JSON.parse(readFileSync(join(results, name, 'checks.json'), 'utf8')) as Check[],
  ])
}

test.each([
  ['2025-11-25', 33, 38],
  ['2026-07-28', 50, 99],
])(
  'passes every requirement of %s that three tools can meet',
  async (requirements, scenarios, passed) => {
    const found = await run(requirements)
    const checks = found.flatMap(([scenario, all]) => all.map((check) => ({ scenario, ...check })))
    const failed = checks
      .filter((check) => check.status === 'FAILURE')
      .map(({ scenario, id }) => `${requirements} ${scenario} ${id}`)
    expect([...new Set(failed)].toSorted()).toEqual(
      frozen.filter((line) => line.startsWith(requirements)).toSorted(),
    )
    expect(found).toHaveLength(scenarios)
    expect(checks.filter((check) => check.status === 'SUCCESS')).toHaveLength(passed)
  },
  180_000,
)

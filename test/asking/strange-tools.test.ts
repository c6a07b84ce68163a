import { readdirSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openBackend } from '../../src/cli/approve/open-backend.ts'
import { openContext } from '../../src/cli/main.ts'
import { createSharedRequests } from '../../src/tools/server/shared-requests.ts'
import { checkStatus, requestApproval, requestApprovalAsync } from '../../src/tools/server/tool-calls.ts'
import { startExactHosted, type ExactHosted } from '../exact-hosted.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { memoryIo } from '../cli/memory-io.ts'
import { svc } from '../cli/svc.ts'
import { rowsToRun } from '../whole.ts'
import {
  approved,
  content,
  honest,
  mobile,
  pending,
  type Said,
  says,
  strange,
} from './strange-tool-answers.ts'

let service: ExactHosted
let folder: ReturnType<typeof temporaryFolder>
beforeEach(async () => {
  service = await startExactHosted({ routes: [] })
  folder = temporaryFolder()
})
afterEach(async () => {
  await service.close()
  folder.remove()
})

type Ended = { yes: boolean; said: string }
const env = () => ({
  SVC_CONFIG_DIR: folder.path,
  SVC_MCP_URL: service.mcpUrl,
  SVC_BASE_URL: service.baseUrl,
})
const command = async (word: string, ...args: string[]): Promise<Ended> => {
  const { exit, out, err } = await svc(['approve', word, '--mcp', ...args], { cwd: folder.path, env: env() })
  return { yes: exit === 0, said: out + err }
}
const to = ['--to', mobile]
const tools = async (work: (context: never) => Promise<unknown>): Promise<Ended> => {
  const gateway = await openBackend(openContext(memoryIo({ env: env() })), { through: 'tools' })
  const defaults = { approvers: [mobile] }
  try {
    const answer = await work({ gateway, shared: createSharedRequests(), caller: 'stdio', defaults } as never)
    return { yes: JSON.stringify(answer).includes('"approved"'), said: '' }
  } catch {
    return { yes: false, said: '' }
  } finally {
    await gateway.close()
  }
}
const ask = { action: 'Deploy' }
const conversation = { signal: new AbortController().signal, endReason: () => '' }

const edges: Record<string, () => Promise<Ended>> = {
  'svc approve request --mcp': () => command('request', 'Deploy', ...to, '--receipt', 'r.json'),
  'svc approve wait --mcp': async () => {
    await command('submit', 'Deploy', ...to)
    return command('wait', 'r-1')
  },
  'request_approval of svc mcp': () =>
    tools((context) => requestApproval({ ...ask, timeout_s: 9 }, context, conversation)),
  'check_status of svc mcp': () =>
    tools(async (context) => {
      await requestApprovalAsync(ask, context, conversation)
      return checkStatus({ request_id: 'r-1' }, context)
    }),
}
const run = (): Promise<Ended> => command('run', ...to, '--org', 'acme', '--', '/bin/sh', '-c', ':')

const play = (said: Said): void => {
  service.tools.request_approval_async = pending
  service.tools.request_approval = said
  service.tools.check_status = said
}

const edgesInOrder = Object.entries(edges).map(([name, edge], place) => [name, edge, place] as const)
describe.each(edgesInOrder)('%s', (name, edge, place) => {
  test.each(Object.entries(honest))('accepts an honest approval with %s', async (_, said) => {
    play(said)
    const { yes, said: words } = await edge()
    const isTold = words.includes('no receipt that can be verified proves the approval')
    expect([yes, isTold]).toEqual([true, name.startsWith('svc approve')])
  })

  // Each at two of the four edges.
  const inTurn = rowsToRun(Object.entries(strange), (_, at) => (at + place) % 2 === 0)
  test.each(inTurn)('does not accept %s', async (_, said) => {
    play(said)
    const { yes, said: words } = await edge()
    expect(yes).toBe(false)
    expect(words).not.toMatch(/Approved by/)
    expect(readdirSync(folder.path)).not.toContain('r.json')
  })
})

test.each(rowsToRun(Object.entries({ ...honest, ...strange }), (_, at) => at % 3 === 0))(
  'svc approve run --mcp runs nothing on %s, which has no receipt of svc',
  async (_, said) => {
    play(said)
    const { yes, said: words } = await run()
    expect(yes).toBe(false)
    expect(words).not.toMatch(/Approved by/)
  },
)

test.each([
  ['another approver', { ...pending, approver_mobile: '+19999999999' }],
  ['an approval at once', approved],
  ['no id', { ...pending, request_id: undefined }],
])('a new request with %s is refused', async (_, said) => {
  play(content(approved))
  service.tools.request_approval_async = content(said)
  expect((await command('request', 'Deploy', ...to)).yes).toBe(false)
  expect((await command('submit', 'Deploy', ...to)).yes).toBe(false)
})

test('an approval under the id of another request is refused', async () => {
  const { yes } = await tools(async (context) => {
    play(content(says({ status: 'denied' })))
    await requestApproval({ ...ask, timeout_s: 9 }, context, conversation)
    play(content(approved))
    return requestApproval({ action: 'Delete everything', timeout_s: 9 }, context, conversation)
  })
  expect(yes).toBe(false)
})

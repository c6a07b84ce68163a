import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openBackend } from '../../src/cli/approve/open-backend.ts'
import { throughRestarts } from '../../src/asking/wait.ts'
import { createProgress } from '../../src/cli/approve/progress.ts'
import { openContext } from '../../src/cli/main.ts'
import { askPerson } from '../../src/cli/mcp/gate/serve-gate.ts'
import { readSubject } from '../../src/receipt/subject.ts'
import { createSharedRequests } from '../../src/tools/server/shared-requests.ts'
import { checkStatus, requestApproval } from '../../src/tools/server/tool-calls.ts'
import { inputOf } from '../hook-hosts.ts'
import { memoryIo } from '../cli/memory-io.ts'
import { folder, installHooks, run, service, toService } from '../cli/other-service.ts'
import { to } from '../cli/approve/approval-service.ts'
import { rowsToRun } from '../whole.ts'
import { lies, playApproving, ruledLies, ruledTruths, truths } from './strange-answers.ts'

installHooks()

type Ended = { yes: boolean; said: string }
const begun = () => openContext(memoryIo({ cwd: folder.path, env: toService() }))
const command = async (args: string[]): Promise<Ended> => {
  const { exit, out, err } = await run(args)
  return { yes: exit === 0, said: out + err }
}
const attempt = async (work: () => Promise<unknown>): Promise<Ended> => {
  try {
    return { yes: JSON.stringify(await work()).includes('"approved"'), said: '' }
  } catch {
    return { yes: false, said: '' }
  }
}
const tools = async (approvers: string[] | undefined) => {
  const gateway = throughRestarts(await openBackend(begun()))
  const shared = createSharedRequests()
  return { gateway, shared, caller: 'stdio', defaults: { approvers } } as never
}
const conversation = { signal: new AbortController().signal, endReason: () => '' }

/** The edges that ask, with whom they name. */
const edgesFor = (named: string[]): Record<string, () => Promise<Ended>> => ({
  'svc approve request': () => command(['approve', 'request', 'Deploy 4.2', ...named, '--receipt', 'r.json']),
  'svc approve run': async () => {
    const child = ['--', '/bin/sh', '-c', ': > ran']
    const ended = await command(['approve', 'run', ...named, ...child])
    return { ...ended, yes: ended.yes || existsSync(join(folder.path, 'ran')) }
  },
  'svc hook run': async () => {
    const key = join(folder.path, 'ask.key')
    writeFileSync(key, 'key', { mode: 0o600 })
    const line = ['hook', 'run', 'claude', ...named, '--base-url', service.baseUrl, '--key-file', key]
    const { exit, out, err } = await run(line, {
      stdin: JSON.stringify(inputOf('claude', 'ls')),
      env: { SVC_BASE_URL: '', SVC_API_KEY: '' },
    })
    return { yes: exit === 0, said: out + err }
  },
  'svc mcp gate': async () => {
    const context = begun()
    const backend = await openBackend(context, { through: 'service' })
    const ask = askPerson(context, { backend, org: undefined, client: () => 'agent' })
    const data = { server: 's', tool: 't', arguments: {} }
    const progress = createProgress(context, backend)
    const held = { progress, signal: new AbortController().signal, recheck: () => undefined }
    return attempt(async () => {
      await ask(
        readSubject({ type: 'tool_call', data }),
        { to: named.slice(1), timeout: 60 } as never,
        held as never,
      )
      return 'approved'
    })
  },
  'svc mcp': async () => {
    const context = await tools(named.length > 0 ? named.slice(1) : undefined)
    return attempt(() => requestApproval({ action: 'Deploy 4.2', timeout_s: 9 }, context, conversation))
  },
})
const edges = edgesFor(to)
const laterEdges: typeof edges = {
  'svc approve wait': () => command(['approve', 'wait', 'apr_1']),
  'check_status of svc mcp': async () => {
    const context = await tools(to.slice(1))
    return attempt(() => checkStatus({ request_id: 'apr_1' }, context))
  },
}

/** Each lie at some edges, and each edge with some lies, in turn. */
const inTurn = <T>(lies: T[], edge: number): T[] => rowsToRun(lies, (_, at) => (at + edge) % 3 === 0)
/** With the place of each in the list. */
const listed = (all: typeof edges) => Object.entries(all).map(([name, edge], at) => [name, edge, at] as const)

describe.each(listed({ ...edges, ...laterEdges }))('%s', (name, edge, place) => {
  test.each(Object.entries(truths))('accepts %s', async (_, truth) => {
    playApproving(truth)
    expect((await edge()).yes).toBe(true)
  })

  const told = Object.entries(lies).filter(
    ([, { creates, known }]) => !(creates || known) || !(name in laterEdges),
  )
  test.each(inTurn(told, place))('does not accept %s', async (_, lie) => {
    playApproving(lie)
    const { yes, said } = await edge()
    expect(yes).toBe(false)
    expect(said).not.toMatch(/Approved by/)
    expect(readdirSync(folder.path)).not.toContain('r.json')
  })
})

describe.each(listed(edgesFor([])))('%s that names nobody', (_, edge, place) => {
  test.each(Object.entries(ruledTruths))('accepts %s', async (__, truth) => {
    playApproving(truth)
    expect((await edge()).yes).toBe(true)
  })

  test.each(inTurn(Object.entries(ruledLies), place))('does not accept %s', async (__, lie) => {
    playApproving(lie)
    const { yes, said } = await edge()
    expect(yes).toBe(false)
    expect(said).not.toMatch(/Approved by/)
  })
})

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeCommand } from '../../src/cli/program/command-node.ts'
import { commandTree, openContext, run } from '../../src/cli/main.ts'
import { startService, type RunningService } from '../../src/service/lifecycle/serve.ts'
import { badLines, problemOf } from './bad-lines.ts'
import { memoryIo } from './memory-io.ts'
import { svc } from './svc.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const { path: dir, remove } = temporaryFolder()
const cwd = join(dir, 'a', 'b', 'c')
let service: RunningService
let env: Record<string, string>
beforeAll(async () => {
  mkdirSync(cwd, { recursive: true })
  const data = { host: '127.0.0.1', port: 0, dataDir: join(dir, 'data'), env: {}, log: () => undefined }
  service = await startService(data)
  env = {
    SVC_BASE_URL: service.baseUrl,
    SVC_API_KEY: service.operatorKey!,
    SVC_CONFIG_DIR: join(dir, 'config'),
    HOME: cwd,
  }
  await svc('org create --name Acme', { env, cwd })
})
afterAll(async () => {
  await service.stop()
  remove()
})

/** The newest row of the audit chains of the service and of the organization. */
const written = async (): Promise<string> => {
  const rows = [0, 1].map(async (org) => {
    const url = `${new URL(service.baseUrl).origin}/svc/v1/audit?org_id=${org}&limit=1`
    return (await fetch(url, { headers: { 'x-api-key': service.operatorKey! } })).text()
  })
  return (await Promise.all(rows)).join()
}

test('wrong command lines have a documented exit code, a message and no write', async () => {
  const tree = describeCommand(await commandTree(openContext(memoryIo())))
  const wrong: string[] = []
  for (const line of badLines(tree, 120, 7)) {
    const { problem } = await problemOf(line, { run, env, cwd, written })
    if (problem) wrong.push(`${line.kind}: ${problem}: svc ${line.argv.join(' ').slice(0, 200)}`)
  }
  expect(wrong).toEqual([])
})

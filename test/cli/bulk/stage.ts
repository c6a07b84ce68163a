import { readFileSync, statSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { run } from '../../../src/cli/main.ts'
import { temporaryFolder } from '../../e2e/processes.ts'
import { startTestService } from '../../service/harness.ts'
import { memoryIo } from '../memory-io.ts'

type More = { stdin?: string | Buffer; signal?: AbortSignal; tty?: boolean; columns?: number }
export type Line = Record<string, unknown> & { row?: number; status?: string; error?: { code: string } }

/** A folder with files, and `svc` in it, in process. */
export const openDesk = (baseUrl: string, key = 'key') => {
  const folder = temporaryFolder()
  const path = (name: string): string => join(folder.path, name)
  const env = { SVC_CONFIG_DIR: path('config'), SVC_BASE_URL: baseUrl, SVC_API_KEY: key }
  return {
    path,
    put: (name: string, content: string | Buffer): void => writeFileSync(path(name), content),
    text: (name: string): string => readFileSync(path(name), 'utf8'),
    mode: (name: string): string => (statSync(path(name)).mode & 0o777).toString(8),
    lines: (name: string): Line[] =>
      readFileSync(path(name), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Line),
    svc: async (args: string[], { signal, ...more }: More = {}) => {
      const io = Object.assign(memoryIo({ cwd: folder.path, env, ...more }), signal && { signal })
      const exit = await run(args, io)
      return { exit, out: io.out(), err: io.err() }
    },
    close: folder.remove,
  }
}
export type Desk = ReturnType<typeof openDesk>

/** The real service on a socket, with the organizations 1 (acme) and 2 (beta). */
export const openStage = async () => {
  const service = await startTestService()
  for (const name of ['Acme', 'Beta']) await service.call('POST', '/organization/create', { body: { name } })
  const server = serve({ fetch: service.app.fetch, hostname: '127.0.0.1', port: 0 })
  await new Promise((resolve) => void server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const desk = openDesk(`http://127.0.0.1:${port}/admin/public/api`, service.operatorKey)
  return {
    ...desk,
    service,
    list: async (what: 'users' | 'geo-fences' | 'timeslots', org = 1): Promise<Record<string, unknown>[]> =>
      (await service.call('GET', `/organization/${org}/${what}`)).body.data,
    close: async (): Promise<void> => {
      await new Promise((resolve) => void server.close(resolve))
      await service.close()
      desk.close()
    },
  }
}
export type Stage = Awaited<ReturnType<typeof openStage>>

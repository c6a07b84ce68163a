import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describeCommand } from '../../src/cli/program/command-node.ts'
import { commandTree, openContext, run } from '../../src/cli/main.ts'
import { badLines, problemOf, type BadLine, type Runner } from '../cli/bad-lines.ts'
import { memoryIo } from '../cli/memory-io.ts'
import { startService, type Service } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { call, must, send } from './requests.ts'
import type { Result, Torture } from './torture.ts'

/** The newest row of each audit chain, of the service and of its organizations. */
const newestRows = ({ baseUrl, key }: Service) => {
  const { origin } = new URL(baseUrl)
  return async (): Promise<string> => {
    const rows = [0, 1, 2].map((org) => send(`${origin}/svc/v1/audit?org_id=${org}&limit=1`, 'GET', key))
    return (await Promise.all(rows)).map(({ text }) => text).join()
  }
}

/** A careless command line: it writes first, then fails on its arguments. */
const careless =
  (service: Service): Runner =>
  async (argv, io) => {
    await call(service.baseUrl, 'createKey', service.key, { name: randomBytes(8).toString('hex') })
    io.stderr.write(`${argv.join(' ')}\n${new Error('cannot parse').stack}\n`)
    return 2
  }

export const torture: Torture = {
  name: 'Wrong command lines with a running service',
  must: 'a documented exit code, no stack, no write without exit 0 or 10',
  run: async (): Promise<Result> => {
    const lines = badLines(describeCommand(await commandTree(openContext(memoryIo()))), 1_000, 42)
    const folder = temporaryFolder()
    const cwd = join(folder.path, 'a', 'b', 'c')
    mkdirSync(cwd, { recursive: true })
    const service = await startService(
      join(folder.path, 'data'),
      `svc_op_torture_${randomBytes(24).toString('hex')}`,
      ['--dev'],
    )
    const env = {
      SVC_BASE_URL: service.baseUrl,
      SVC_API_KEY: service.key,
      SVC_CONFIG_DIR: join(folder.path, 'config'),
      HOME: cwd,
    }
    const written = newestRows(service)
    const hits: Record<string, number> = {}
    const judge = async (some: BadLine[], runner: Runner): Promise<string[]> => {
      const wrong: string[] = []
      for (const line of some) {
        const { exit, problem } = await problemOf(line, { run: runner, env, cwd, written })
        if (runner === run) {
          hits[line.kind] = (hits[line.kind] ?? 0) + 1
          hits[`exit ${exit}`] = (hits[`exit ${exit}`] ?? 0) + 1
        }
        if (problem) wrong.push(`${line.kind}: ${problem}: svc ${line.argv.join(' ').slice(0, 160)}`)
      }
      return wrong
    }
    try {
      for (const slug of ['acme', 'globex'])
        await must(call(service.baseUrl, 'createOrganization', service.key, { name: slug, slug }))
      const wrong = await judge(lines, run)
      const broken = await judge(lines.slice(0, 20), careless(service))
      return {
        count: lines.length,
        failures: wrong.length,
        hits,
        control: broken.length,
        examples: wrong.slice(0, 8).map((text) => JSON.stringify(text)),
      }
    } finally {
      await service.stop()
      folder.remove()
    }
  },
}

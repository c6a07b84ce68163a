import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../../src/contract/operation.ts'
import { table } from '../../../src/contract/table.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { json, startFakeHosted, type FakeHosted, type Seen } from '../../fake-hosted.ts'
import { answerTo } from '../terminal/sample.ts'
import { argvOf, isMeant, operations } from '../terminal/typed-operations.ts'
import { svc } from '../svc.ts'
import { machine } from '../../machine.ts'

// The `curl` line of each write, run by a real shell and a real curl, compared with what svc sends.

const hasCurl = await promisify(execFile)('curl', ['--version']).then(
  () => true,
  () => false,
)
const key = 'svc_op_1a2b3c4d_key'
const secret = 'a-secret-that-is-long-enough'
const folder = temporaryFolder()
const secretFile = join(folder.path, 'secret.txt')
writeFileSync(secretFile, `${secret}\n`)

let service: FakeHosted
beforeAll(async () => {
  service = await startFakeHosted()
  service.always((request, response) => {
    const operation = Object.values(table as Record<string, Operation>).find((one) => isMeant(one, request))
    const data = operation && answerTo(operation, request)
    json(200, { status: 'success', message: 'Done', data })(request, response)
  })
})
afterAll(async () => {
  await service.close()
  folder.remove()
})

const run = async (argv: string[]): Promise<string> => {
  const env = { SVC_CONFIG_DIR: folder.path, SVC_BASE_URL: service.baseUrl, SVC_API_KEY: key }
  const { exit, out, err } = await svc(argv, { cwd: folder.path, env })
  if (exit !== 0) throw new Error(`svc ${argv.join(' ')} exits ${exit}: ${err}`)
  return out
}

const shell = async (line: string, env: Record<string, string>): Promise<number> =>
  promisify(execFile)('/bin/sh', ['-c', line], { env: { ...machine, ...env } }).then(
    () => 0,
    (error: { code: number }) => error.code,
  )

/** The requests for this operation that `work` sends. */
const sentBy = async (operation: Operation, work: () => Promise<unknown>): Promise<Seen[]> => {
  const before = service.seen.length
  await work()
  return service.seen.slice(before).filter((request) => isMeant(operation, request))
}

const compared = ({ method, path, headers, body }: Seen) => ({
  method,
  path,
  type: headers['content-type'],
  key: headers['x-api-key'],
  body: body ? (JSON.parse(body) as unknown) : undefined,
})

describe.runIf(hasCurl)('the curl command of --dry-run', () => {
  test.each(operations.filter(([, { effect }]) => effect !== 'read'))(
    'sends what svc sends for %s, and nothing without the secrets',
    async (_, operation) => {
      const argv = argvOf(operation, secretFile)
      const { curl, secrets = [] } = JSON.parse(await run([...argv, '--dry-run', '-o', 'json'])) as {
        curl: string
        secrets?: string[]
      }
      expect(curl).not.toContain(secret)
      const values = {
        ...(operation.open ? {} : { SVC_API_KEY: key }),
        ...Object.fromEntries(secrets.map((name) => [name, valueFor(name, argv)])),
      }
      for (const missing of Object.keys(values)) {
        const others = Object.fromEntries(Object.entries(values).filter(([name]) => name !== missing))
        expect(await sentBy(operation, () => shell(curl, others))).toEqual([])
      }
      const [theirs] = await sentBy(operation, () => shell(curl, values))
      const [ours] = await sentBy(operation, () => run(argv))
      const expected = compared(ours!)
      expect(compared(theirs!)).toEqual(operation.open ? { ...expected, key: undefined } : expected)
    },
  )
})

/** A secret was typed as a file or as an argument. */
const valueFor = (variable: string, argv: readonly string[]): string => {
  const flag = `--${variable.replace(/^MY_/, '').toLowerCase().replaceAll('_', '-')}`
  const at = argv.findIndex((word) => word === flag || word === `${flag}-file`)
  return at < 0 || argv[at + 1] === secretFile ? secret : argv[at + 1]!
}

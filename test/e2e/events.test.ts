import { once } from 'node:events'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import Database from 'libsql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findPort } from '../free-port.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { createGeofence } from './geofence.ts'
import { svcHere } from './prepare.ts'
import { startService, startSvc, type Service } from './processes.ts'

const key = 'svc_op_endtoend_0123456789012345678901234567890'
const folder = temporaryFolder()
const dataDir = join(folder.path, 'data')
const heads = join(folder.path, 'heads.ndjson')
let service: Service
let port: string
let env: Record<string, string>

/** On the same port each time. */
const start = async (): Promise<void> => {
  service = await startService(dataDir, key, ['--port', port])
  env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: key, SVC_CONFIG_DIR: join(folder.path, 'config') }
}

beforeAll(async () => {
  port = String(await findPort())
  await start()
  await svcHere(['org', 'create', '--name', 'Acme'], env)
})
afterAll(async () => {
  await service.stop()
  folder.remove()
})

/** Starts `svc events tail`; `next` resolves with the next event. */
const tail = (...args: string[]) => {
  const child = startSvc(['events', 'tail', '--org', 'acme', '-o', 'ndjson', ...args], env)
  let errors = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  return {
    next: async () => JSON.parse((await lines.next()).value as string) as { type: string; id: string },
    errors: () => errors,
    stop: async (): Promise<number | null> => {
      child.kill('SIGINT')
      return ((await once(child, 'exit')) as [number | null])[0]
    },
  }
}

/** What it prints in this format of the events up to now, and their ids. */
const upToNow = async (format: string): Promise<[stdout: string, ids: string[]]> => {
  await createGeofence(format, env)
  const args = ['events', 'tail', '--org', 'acme', '--since', '1h', '--no-follow', '-o']
  const [{ stdout }, lines] = [await svcHere([...args, format], env), await svcHere([...args, 'ndjson'], env)]
  return [stdout, lines.stdout.match(/evt_[\w-]+/g) ?? []]
}

describe('svc events tail', () => {
  test('continues after a restart of the service, and ends on Ctrl-C', async () => {
    await createGeofence('One', env)
    const following = tail('--since', '1h', '--type', 'policy')
    const first = await following.next()
    expect(first.type).toBe('policy.updated')
    await service.stop()
    await start()
    await createGeofence('Two', env)
    const second = await following.next()
    expect(second.type).toBe('policy.updated')
    expect(second.id).not.toBe(first.id)
    expect(await following.stop()).toBe(130)
  })

  test.each(['yaml', 'csv'])('prints the events up to now as one document with -o %s', async (format) => {
    const [stdout, ids] = await upToNow(format)
    expect(stdout.match(/evt_[\w-]+/g)).toEqual(ids)
  })

  test('prints the events up to now as one list with -o json', async () => {
    const [stdout, ids] = await upToNow('json')
    expect(JSON.parse(stdout)).toEqual(ids.map((id) => expect.objectContaining({ id })))
  })

  test.each([
    [['--type', 'aproval'], '--type is not a type or group of events: "aproval"'],
    [['--since', 'soon'], '--since is not a valid time: "soon"'],
    [['--since', '1h', '--after', 'evt_1_1_00000000'], '--since cannot be combined with --after'],
    [['--after', 'evt_1_1_00000000'], '--after is not in the audit log'],
    [['-o', 'json'], 'prints a single document'],
  ])('refuses %j', async (args, message) => {
    const { exit, stderr } = await svcHere(['events', 'tail', '--org', 'acme', ...args], env)
    expect([exit, stderr.includes(message)]).toEqual([2, true])
  })
})

const verify = () => svcHere(['audit', 'verify', '--org', '1', '--head', heads], env)

const change = (sql: string): void => {
  const db = new Database(join(dataDir, 'svc.db'))
  db.exec(sql)
  db.close()
}

/** Saves the signed head, as somebody outside would. */
const saveHead = async (): Promise<void> => {
  const { stdout } = await svcHere(['audit', 'head', '--org', '1', '-o', 'ndjson'], env)
  appendFileSync(heads, stdout)
}

describe('saved heads of the audit', () => {
  test('show a chain that was cut', async () => {
    await saveHead()
    await createGeofence('Three', env)
    await saveHead()
    expect(await verify()).toMatchObject({ exit: 0 })
    const lines = readFileSync(heads, 'utf8').trim().split('\n')
    const last = JSON.parse(lines.at(-1)!) as { seq: number }
    // What remains is a valid chain: only the heads know that it was longer.
    change(`DELETE FROM audit WHERE org_id = 1 AND seq = ${last.seq}`)
    expect(await svcHere(['audit', 'verify', '--org', '1'], env)).toMatchObject({ exit: 0 })
    const { exit, stderr } = await verify()
    expect(exit).toBe(1)
    expect(stderr).toContain(`Row ${last.seq} does not match the saved head`)
  })

  test('are not accepted if they were changed', async () => {
    const forged = join(folder.path, 'forged.ndjson')
    const [first] = readFileSync(heads, 'utf8').split('\n') as [string]
    const { jws } = JSON.parse(first) as { jws: string }
    writeFileSync(forged, `${JSON.stringify({ jws: jws.replace(/.{4}$/, 'AAAA') })}\n`)
    const { exit, stderr } = await svcHere(['audit', 'verify', '--org', '1', '--head', forged], env)
    expect(exit).toBe(1)
    expect(stderr).toContain('is not a head that was signed by this service')
  })
})

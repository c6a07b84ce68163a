import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { startService, svc } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import type { Result, Torture } from './torture.ts'

export type Place = { name: string; text: string }

/** Every argument and every readable environment of other processes, from `ps`. */
export const processes = async (): Promise<string> => {
  const child = spawn('ps', ['-eo', 'args'], { stdio: ['ignore', 'pipe', 'ignore'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part))
  await once(child, 'close')
  return text
}

export const filesBelow = (folder: string): Place[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return { name: path.slice(folder.length + 1), text: readFileSync(path, 'latin1') }
    })

/** The canaries in places where they must not be. */
export const found = (places: Place[], canaries: Record<string, string>): string[] =>
  places.flatMap(({ name, text }) =>
    Object.entries(canaries)
      .filter(([, secret]) => text.includes(secret))
      .map(([kind]) => `${kind} in ${name}`),
  )

export const torture: Torture = {
  name: 'Canaries: an operator key, an organization key, an IdP secret, an auth code and a master key',
  must: '0 in output, logs, database, ps',
  run: async (): Promise<Result> => {
    const folder = temporaryFolder()
    const dataDir = join(folder.path, 'data')
    const operator = `svc_op_canary_${randomBytes(24).toString('hex')}`
    const idp = `idp-canary-${randomBytes(12).toString('hex')}`
    const master = randomBytes(32).toString('base64')
    writeFileSync(join(folder.path, 'idp.txt'), idp)
    const service = await startService(dataDir, operator, [], { SVC_MASTER_KEY: master })
    const env = {
      SVC_BASE_URL: service.baseUrl,
      SVC_API_KEY: operator,
      SVC_CONFIG_DIR: join(folder.path, 'config'),
    }
    const places: Place[] = []
    let runs = 0
    const run = async (args: string[], as = env): Promise<string> => {
      runs++
      const child = svc(args, as)
      places.push({ name: `ps during svc ${args.join(' ')}`, text: await processes() })
      const { stdout, stderr } = await child
      places.push({ name: `svc ${args.join(' ')}`, text: stdout + stderr })
      return stdout
    }
    try {
      await run(['org', 'create', '--name', 'Acme', '--debug'])
      const idpFile = ['--client-secret-file', join(folder.path, 'idp.txt')]
      const setIdp = [
        'org',
        'creds',
        'set-idp',
        '--org',
        '1',
        '--provider',
        'okta',
        '--client-id',
        'x',
        ...idpFile,
      ]
      await run([...setIdp, '--debug'])
      await run([...setIdp, '--dry-run'])
      await run(['org', 'creds', 'get', '--org', '1', '-o', 'json'])
      // These two print their secret once, on purpose, so their output is not searched.
      const shownOnce = async (args: string[]): Promise<Record<string, string>> => {
        const { stdout } = await svc([...args, '-o', 'json'], env)
        return JSON.parse(stdout) as Record<string, string>
      }
      const { key } = await shownOnce(['key', 'create', '--can', 'all', '--name', 'ci', '--org', '1'])
      const { code } = await shownOnce(['org', 'auth-code', 'create', '--org', '1', '--label', 'x'])
      const asOrg = { ...env, SVC_API_KEY: key! }
      for (const args of [
        ['key', 'list', '-o', 'json'],
        ['org', 'auth-code', 'list', '--org', '1', '-o', 'json'],
        ['audit', 'list', '--org', '1', '-o', 'json'],
        ['org', 'get', '99', '--debug'],
        ['geofence', 'create', '--org', '1', '--debug'],
        ['org', 'create', '--name', 'Other', '--dry-run'],
        ['profile', 'show', '--explain'],
        ['api', '/organizations', '-i'],
      ]) {
        await run(args)
        await run(args, asOrg)
      }
      await run(['org', 'list', '--debug'], { ...env, SVC_BASE_URL: 'http://127.0.0.1:1/admin/public/api' })
      const canaries = {
        'operator key': operator,
        'organization key': key!,
        'IdP secret': idp,
        'auth code': code!,
        'master key': master,
      }
      places.push({ name: 'the log', text: service.log() })
      await service.stop()
      places.push(...filesBelow(dataDir))
      const leaks = found(places, canaries)
      const planted = found(
        [{ name: 'a careless log', text: `GET /organizations x-api-key: ${operator}` }],
        canaries,
      )
      return {
        count: places.length * Object.keys(canaries).length,
        failures: leaks.length,
        hits: { commands: runs, places: places.length, 'log lines': service.log().split('\n').length },
        control: planted.length,
        examples: leaks.slice(0, 8),
      }
    } finally {
      await service.stop()
      folder.remove()
    }
  },
}

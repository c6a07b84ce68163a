import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bin, startService, svc, type Service } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { patienceMs } from '../patience.mts'

// The scripts, loaded and used in the real shells.

const kept = (name: string): string =>
  fileURLToPath(new URL(`../../completions/svc.${name}`, import.meta.url))
const here = fileURLToPath(new URL('.', import.meta.url))

let folder: string
let remove: () => void
beforeAll(() => {
  ;({ path: folder, remove } = temporaryFolder())
  writeFileSync(join(folder, 'body.json'), '{}')
  writeFileSync(join(folder, 'two words.json'), '{}')
  mkdirSync(join(folder, 'bin'))
  symlinkSync(bin, join(folder, 'bin', 'svc'))
  env = { PATH: `${join(folder, 'bin')}:${process.env['PATH']}`, SVC_CONFIG_DIR: join(folder, 'none') }
})
afterAll(() => remove())

/** Where the completion finds `svc`, and which service it queries. */
let env: NodeJS.ProcessEnv = {}

const output = (command: string, args: string[]): string[] => {
  const text = execFileSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: patienceMs,
    env: { ...process.env, ...env },
  })
  return text.split('\n').filter((line) => line !== '')
}

const bashRun = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _svc; printf '%s\\n' "\${COMPREPLY[@]}"`

/** What the shell offers at the end of a line. */
const shells: Record<'bash' | 'zsh' | 'fish', (script: string, line: string) => string[]> = {
  bash: (script, line) =>
    output('bash', ['--norc', '-c', bashRun, '_', script, ...line.split(/(?<=\S) |(?<==)|(?==)/)]),
  zsh: (script, line) => output('zsh', ['-f', join(here, 'capture.zsh'), script, line]),
  fish: (script, line) =>
    output('fish', ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', script, line]).map(
      (offer) => offer.split('\t')[0]!,
    ),
}

describe.each(['bash', 'zsh', 'fish'] as const)('%s', (name) => {
  const complete = (line: string): string[] => shells[name](kept(name), line)

  test.each([
    ['svc user pending ', ['accept', 'hold', 'list', 'reject']],
    ['svc org auth-code u', ['update']],
    ['svc --profile acme -o json key r', ['revoke', 'rotate']],
    ['svc user list --state ', ['active', 'pending', 'rejected', 'removed']],
    ['svc org update acme --factors b', ['biometric']],
    ['svc org list -o n', ['ndjson']],
    ['svc org list --output y', ['yaml']],
    ['svc geofence create --la', ['--latitude']],
    ['svc geofence create --deb', ['--debug']],
    ['svc completion ', ['bash', 'fish', 'zsh']],
    ['svc org update acme --input bo', ['body.json']],
    ['svc service restore bo', ['body.json']],
    ['svc org create --name ', []],
    ['svc key rotate ', []],
    ['svc service restore body.json ', []],
    ['svc completion bash ', []],
    ['svc help exit-codes f', ['formatting']],
  ])('offers after "%s" only what fits', (line, expected) => {
    expect(complete(line).toSorted()).toEqual(expected)
  })

  test('offers every group after the program name', () => {
    expect(complete('svc ')).toEqual(
      expect.arrayContaining([
        'org',
        'user',
        'geofence',
        'timeslot',
        'key',
        'profile',
        'serve',
        'completion',
      ]),
    )
  })

  test('offers the flags of a command and the global flags after a dash', () => {
    const offered = complete('svc org create --')
    expect(offered).toEqual(expect.arrayContaining(['--slug', '--dry-run', '--output', '--help']))
    expect(offered).not.toContain('--latitude')
  })

  test('offers a value after an equals sign', () => {
    expect(complete('svc org list --output=ndj').map((offer) => offer.replace('--output=', ''))).toEqual([
      'ndjson',
    ])
  })

  test('offers a file name with a space as one word', () => {
    expect(complete('svc org update acme --input two')).toHaveLength(1)
  })

  test('executes nothing in a description', () => {
    const about = `it's $(touch run) \`touch run\` "\\' ; touch run ; ' %s:x`
    const hostile = join(folder, 'hostile')
    mkdirSync(hostile, { recursive: true })
    writeFileSync(join(hostile, 'svc'), `#!/bin/sh\ncat <<'END'\nsing\t${about}\nEND\n`, { mode: 0o755 })
    const before = env
    env = { ...env, PATH: `${hostile}:${process.env['PATH']}` }
    try {
      expect(complete('svc s')).toEqual(['sing'])
      expect(existsSync(join(folder, 'run'))).toBe(false)
    } finally {
      env = before
    }
  })
})

describe('values that only the service knows', () => {
  let service: Service
  let client: Record<string, string>
  const requests: string[] = []

  beforeAll(async () => {
    service = await startService(join(folder, 'data'), 'completion-operator-key-of-32-characters', ['--dev'])
    client = {
      SVC_BASE_URL: service.baseUrl,
      SVC_API_KEY: service.key,
      SVC_CONFIG_DIR: join(folder, 'config'),
    }
    const create = (...args: string[]) => svc(args, client)
    await create('org', 'create', '--name', 'Acme Corp', '--slug', 'acme')
    await create('org', 'create', '--name', '$(touch run): `touch run`', '--slug', 'borealis')
    const fence = ['--latitude', '52.5', '--longitude', '13.4', '--radius', '100', '--is-active', '1']
    await create('geofence', 'create', '--org', 'acme', '--name', 'Head Office', ...fence)
    await create('profile', 'create', 'prod', '--base-url', service.baseUrl)
    const ada = ['--first-name', 'Ada', '--last-name', 'L', '--email', 'ada@acme.example']
    await create('user', 'create', '--org', 'acme', ...ada, '--country-code', '+1', '--mobile', '2025550101')
    await create('user', 'enroll', '1', '--org', 'acme', '--software', '--file', join(folder, 'ada.json'))
    for (const action of ['Deploy', 'Restart']) {
      const ask = ['approve', 'submit', action, '--to', '+12025550101', '--org', 'acme']
      requests.push((await create(...ask, '--jq', '.request_id')).stdout.trim())
    }
    requests.sort()
    env = { ...env, ...client }
  })
  afterAll(() => service.stop())

  test.each(['bash', 'zsh', 'fish'] as const)('are offered by %s', (name) => {
    const complete = (line: string): string[] => shells[name](kept(name), line).toSorted()
    expect(complete('svc org get ')).toEqual(['acme', 'borealis'])
    expect(complete('svc user list --org b')).toEqual(['borealis'])
    expect(complete('svc geofence get --org acme ')).toEqual(['1'])
    expect(complete('svc geofence get --org acme 1 ')).toEqual([])
    expect(complete('svc --profile p')).toEqual(['prod'])
    expect(complete('svc approve status ')).toEqual(requests)
    expect(complete('svc approve withdraw ')).toEqual(requests)
    expect(complete(`svc approve wait ${requests[0]} `)).toEqual([])
    expect(complete(`svc approve status ${requests[0]} `)).toEqual([])
    expect(existsSync(join(folder, 'run'))).toBe(false)
  })

  test('are described, cached for a minute in a private file, and never block for long', async () => {
    const ask = (extra: Record<string, string> = {}) =>
      svc(['completion', 'words', '--', 'org', 'get'], { ...client, ...extra })
    const { stdout } = await ask()
    expect(stdout).toBe('acme\tAcme Corp\nborealis\t$(touch run): `touch run`\n')
    await svc(['org', 'create', '--name', 'Corvus'], client)
    expect((await ask()).stdout).toBe(stdout)
    expect((await ask({ SVC_CONFIG_DIR: join(folder, 'other') })).stdout).toContain('corvus\tCorvus')

    const deaf = createServer().listen(0, '127.0.0.1')
    await once(deaf, 'listening')
    const { port } = deaf.address() as AddressInfo
    const started = performance.now()
    const unheard = await ask({ SVC_BASE_URL: `http://127.0.0.1:${port}/admin/public/api` })
    expect(unheard).toEqual({ exit: 0, stdout: '', stderr: '' })
    expect(performance.now() - started).toBeLessThan(10_000)
    deaf.close()
  })
})

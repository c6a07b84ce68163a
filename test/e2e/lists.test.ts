import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGeofence } from './geofence.ts'
import { svcHere } from './prepare.ts'
import { outcome, startService, startSvc, type Ended, type Service } from './processes.ts'
import { findPort } from '../free-port.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { typeLine } from './shell.ts'
import { onTerminal, watch } from './terminal.ts'

const key = 'svc_op_endtoend_0123456789012345678901234567890'
const folder = temporaryFolder()
const dataDir = join(folder.path, 'data')
let service: Service
let port: string
let env: Record<string, string>

const run = (...args: string[]): Promise<Ended> => svcHere(args, env)
const create = (name: string): Promise<Ended> => createGeofence(name, env)

beforeAll(async () => {
  port = String(await findPort())
  service = await startService(dataDir, key, ['--port', port])
  env = { SVC_CONFIG_DIR: join(folder.path, 'config'), SVC_BASE_URL: service.baseUrl, SVC_API_KEY: key }
  await run('org', 'create', '--name', 'Acme')
  for (const name of ['A', 'B', 'C']) await create(name)
})
afterAll(async () => {
  await service.stop()
  folder.remove()
})

describe('a truncated list', () => {
  test('prints a command that shows the rest when it is typed into a shell', async () => {
    const list = ['audit', 'list', '--org', 'acme', '--actor', 'operator (key 1)', '--jq', '.[].seq']
    let { stdout, stderr } = await run('--base-url', service.baseUrl, ...list, '--limit', '3')
    const seen = [stdout]
    for (let more; (more = /^More: (svc .+)$/m.exec(stderr)?.[1]);) {
      ;({ stdout, stderr } = await typeLine(more, { ...env, SVC_BASE_URL: 'http://127.0.0.1:9' }))
      seen.push(stdout)
    }
    expect(seen).toEqual(['4\n3\n2\n', '1\n'])
  })
})

/** Runs `svc … --follow`. Once the output matches a step, takes the step. After the last step, Ctrl-C. */
const following = async (args: string[], steps: [until: RegExp, then: () => unknown][]): Promise<Ended> => {
  const child = startSvc([...args, '--follow'], env)
  const [output, ended] = [watch(child), outcome(child)]
  for (const [until, then] of steps) {
    if (!(await output.until(() => until.test(output.written())))) break
    void then()
  }
  child.kill('SIGINT')
  return ended
}

describe('a followed list', () => {
  test('prints each new row once, across a restart of the service, until Ctrl-C', async () => {
    const { exit, stdout, stderr } = await following(
      ['audit', 'list', '--org', 'acme', '--limit', '1', '-o', 'ndjson'],
      [
        [/"seq":4/, () => create('D')],
        [/"seq":5/, () => service.stop()],
        [
          /Retrying/,
          async () => {
            service = await startService(dataDir, key, ['--port', port])
            await create('E')
          },
        ],
        [/"seq":6/, () => undefined],
      ],
    )
    expect([
      exit,
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).seq),
    ]).toEqual([130, [4, 5, 6]])
    expect(stderr).toMatch(
      /^Nothing answers at .*Retrying until it is back; press Ctrl-C to stop\.\nThe service is back\.\n$/,
    )
  })

  test('is an aligned table on a terminal, and Ctrl-C is not an error', async () => {
    const { exit, screen } = await onTerminal(
      ['audit', 'list', '--org', 'acme', '--limit', '2', '--follow'],
      env,
      [
        [/SEQ[^]*\n6 /, () => create('F')],
        [/(?:^|\n)7 /, '\u0003'],
      ],
    )
    const lines = screen.split('\r\n').filter((line) => /^(?:SEQ|\d)/.test(line))
    expect([exit, lines.map((line) => line.split(/\s+/)[0])]).toEqual([130, ['SEQ', '5', '6', '7']])
    expect(new Set(lines.map((line) => line.search(/ACTION|create/))).size).toBe(1)
    expect(screen).not.toContain('svc:')
  })

  test('prints the selected fields as one document per row', async () => {
    const { exit, stdout } = await following(
      ['audit', 'list', '--org', 'acme', '--limit', '1', '--json', 'seq'],
      [[/./, () => undefined]],
    )
    expect([exit, stdout]).toEqual([130, expect.stringMatching(/^\{"seq":\d+\}\n$/)])
  })

  test.each([
    [['-o', 'json'], /-o json prints a single document.*svc audit list --follow -o ndjson"/],
    [['--until', '1h'], /--until cannot be combined with --follow.*\nhint: svc audit list --follow\n/],
  ])('rejects %j', async (flags, message) => {
    const { exit, stderr } = await run('audit', 'list', '--follow', ...flags)
    expect([exit, message.test(stderr) || JSON.stringify(stderr)]).toEqual([2, true])
  })
})

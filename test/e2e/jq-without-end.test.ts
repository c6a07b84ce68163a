import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bin, startService, svc, temporaryFolder, type Service } from './processes.ts'

const folder = temporaryFolder()
let service: Service
let env: Record<string, string>
beforeAll(async () => {
  service = await startService(`${folder.path}/data`, `svc_op_1a2b3c4d_${'k'.repeat(32)}`)
  env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: service.key, SVC_CONFIG_DIR: folder.path }
})
afterAll(async () => {
  await service.stop()
  folder.remove()
})

const start = (...args: string[]) => {
  const child = spawn(process.execPath, [bin, ...args, '--jq', 'def f: f; f'], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text))
  return { child, said, ended: once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]> }
}

it.each(['SIGINT', 'SIGTERM'] as const)('a filter without an end is ended by %s', async (name) => {
  const { child, ended } = start('version')
  // Nothing says when jq has begun: the signal is sent until it is taken. Before, svc takes it and exits with 130.
  const timer = setInterval(() => child.kill(name), 50)
  const [exit, signal] = await ended
  clearInterval(timer)
  expect([name, 130]).toContain(signal ?? exit)
})

it.each([
  ['SIGINT', 'was interrupted'],
  ['SIGTERM', 'did not end within 5 s'],
] as const)(
  'after a change it is ended by %s, and the answer is not lost',
  async (name, why) => {
    const { child, said, ended } = start('key', 'create', '--can', 'all', '--name', name)
    await expect
      .poll(async () => (await svc(['key', 'list', '--json', 'name'], env)).stdout, { timeout: 15_000 })
      .toContain(name)
    child.kill(name)
    expect(await ended).toEqual([11, null])
    expect(JSON.parse(said.out)).toMatchObject({ name, key: expect.stringMatching(/^svc_op_/) })
    expect(said.err).toContain('svc key create was carried out, but its answer could not be shown')
    expect(said.err).toContain(why)
  },
  30_000,
)

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { MemoryOptions } from '../memory-io.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { svc } from '../svc.ts'

let dir: string
let remove: () => void
let server: Server | undefined
beforeEach(() => {
  ;({ path: dir, remove } = temporaryFolder())
})
afterEach(() => {
  server?.close()
  remove()
})

const run = (line: string, { env, ...options }: MemoryOptions = {}) =>
  svc(line, { cwd: dir, ...options, env: { SVC_CONFIG_DIR: dir, ...env } })
const saved = () => JSON.parse(readFileSync(join(dir, 'profiles.json'), 'utf8'))
const key = `svc_org_1a2b3c4d_${'k'.repeat(43)}`
const url = 'https://host.example/admin/public/api'

/** A service that accepts one key. Returns its address and the keys that it received. */
const listen = async (status = 401): Promise<{ base: string; seen: unknown[] }> => {
  const seen: unknown[] = []
  server = createServer((request, response) => {
    seen.push(request.headers['x-api-key'])
    const good = request.headers['x-api-key'] === key
    response.writeHead(good ? 200 : status, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify(
        good ? { status: 'success', message: '', data: [] } : { status: 'error', message: 'no' },
      ),
    )
  })
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve))
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}/admin/public/api`, seen }
}

describe('svc profile login', () => {
  test('saves a valid key for its address', async () => {
    const { base, seen } = await listen()
    await run(`profile create here --base-url ${base}`)
    const { exit, out, err } = await run('profile login here --with-key', { stdin: key })
    expect({ exit, seen }).toEqual({ exit: 0, seen: [key] })
    expect(out + err).not.toContain(key)
    expect(saved().profiles.here).toMatchObject({ api_key: key, api_key_origin: new URL(base).origin })
  })
  test('does not save a key that the service rejects', async () => {
    const { base } = await listen()
    await run(`profile create here --base-url ${base}`)
    expect((await run('profile login here --with-key', { stdin: 'wrong' })).exit).toBe(4)
    expect(saved().profiles.here.api_key).toBeUndefined()
  })
  test('saves a valid key that cannot list organizations, and says so', async () => {
    const { base } = await listen(403)
    await run(`profile create here --base-url ${base}`)
    const { exit, err } = await run('profile login here --with-key', { stdin: 'limited' })
    expect({ exit, err }).toMatchObject({ exit: 0, err: expect.stringContaining('cannot list') })
    expect(saved().profiles.here.api_key).toBe('limited')
  })
  test('creates a profile with an address, and makes the first one current', async () => {
    const { base, seen } = await listen()
    const { exit, out } = await run(`profile login here --base-url ${base} --with-key`, { stdin: key })
    expect({ exit, out, seen }).toMatchObject({
      exit: 0,
      out: expect.stringContaining('profile here'),
      seen: [key],
    })
    expect(saved()).toMatchObject({
      current: 'here',
      profiles: { here: { base_url: base, api_key: key, api_key_origin: new URL(base).origin } },
    })
  })
  test('creates a profile for the address in the environment', async () => {
    const { base } = await listen()
    await run('profile login default --with-key', { stdin: key, env: { SVC_BASE_URL: base } })
    expect(saved().profiles).toMatchObject({ default: { base_url: base, api_key: key } })
  })
  test('saves the CA of the login in a new profile', async () => {
    const { base } = await listen()
    writeFileSync(join(dir, 'ca.pem'), '')
    await run(`profile login here --base-url ${base} --cacert ${dir}/ca.pem --with-key`, { stdin: key })
    expect(saved().profiles.here).toMatchObject({ cacert: join(dir, 'ca.pem') })
  })
  test.each([
    [
      'profile login here',
      /no profile "here"; use --base-url/,
      'Type the same command with --base-url https://',
    ],
    [`profile login __proto__ --base-url ${url}`, /is not a valid profile name/, ''],
    ['profile login here --base-url http://h.example/x', /over plain http/, ''],
    ['profile login here --base-url h.example', /--base-url/, ''],
  ])('creates no profile with %s', async (args, message, hint) => {
    const { exit, err } = await run(`${args} --with-key`, { stdin: key })
    expect({ exit, err }).toEqual({ exit: expect.toBeOneOf([2, 4]), err: expect.stringMatching(message) })
    expect(err).toContain(hint)
    expect(existsSync(join(dir, 'profiles.json'))).toBe(false)
  })
  test('creates no profile if the service rejects the key', async () => {
    const { base } = await listen()
    expect((await run(`profile login here --base-url ${base} --with-key`, { stdin: 'wrong' })).exit).toBe(4)
    expect(existsSync(join(dir, 'profiles.json'))).toBe(false)
  })
  test('does not prompt in a pipe', async () => {
    await run(`profile create here --base-url ${url}`)
    expect(await run('profile login here')).toMatchObject({
      exit: 2,
      err: expect.stringContaining('--with-key'),
    })
  })
})

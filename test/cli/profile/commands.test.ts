import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { MemoryOptions } from '../memory-io.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { svc } from '../svc.ts'

let dir: string
let remove: () => void
beforeEach(() => {
  ;({ path: dir, remove } = temporaryFolder())
})
afterEach(() => remove())

const run = (line: string, { env, ...options }: MemoryOptions = {}) =>
  svc(line, { cwd: dir, ...options, env: { SVC_CONFIG_DIR: dir, ...env } })
const saved = () => JSON.parse(readFileSync(join(dir, 'profiles.json'), 'utf8'))
const key = `svc_org_1a2b3c4d_${'k'.repeat(43)}`
const url = 'https://host.example/admin/public/api'

describe('svc profile create', () => {
  test('saves the profile with a key from standard input and makes the first one current', async () => {
    const { exit, out, err } = await run(
      `profile create prod --base-url ${url} --org acme --protected --with-key`,
      {
        stdin: `${key}\n`,
      },
    )
    expect(exit).toBe(0)
    expect(out + err).not.toContain(key)
    expect(saved()).toEqual({
      version: 1,
      current: 'prod',
      profiles: {
        prod: {
          base_url: url,
          org: 'acme',
          protected: true,
          api_key: key,
          api_key_origin: 'https://host.example',
        },
      },
    })
  })
  test('keeps the current profile and rejects a name that exists', async () => {
    await run(`profile create a --base-url ${url}`)
    await run(`profile create b --base-url ${url}`)
    expect(saved().current).toBe('a')
    expect(await run(`profile create b --base-url ${url}`)).toMatchObject({
      exit: 3,
      err: expect.stringContaining('hint: svc profile set b'),
    })
  })
  test('suggests the API root if the address has no path', async () => {
    expect((await run('profile create a --base-url https://host.example')).err).toContain(
      'https://host.example/admin/public/api',
    )
  })
  const wrong: [string, RegExp][] = [
    ['profile create a', /requires --base-url/],
    ['profile create __proto__ --base-url https://h.example/x', /is not a valid profile name/],
    ['profile create a --base-url h.example', /base_url is not a valid URL/],
    ['profile create a --base-url https://h.example/x --mcp-url https://h.example/', /must end in \/mcp/],
    ['profile create a --base-url https://h.example/x --default-mobile 12025550101', /E\.164/],
    ['profile create a --base-url https://h.example/x --credential-command pass|head', /JSON list/],
    [
      'profile create a --base-url http://h.example/x --with-key',
      /is not sent to http:\/\/h\.example over plain http/,
    ],
    ['profile create a --base-url https://h.example/x --with-key', /must be one line/],
  ]
  for (const [args, message] of wrong)
    test(`rejects: ${args}`, async () => {
      const { exit, err } = await run(args, { stdin: 'two words' })
      expect(exit).toBe(2)
      expect(err).toMatch(message)
      expect(() => saved()).toThrow('ENOENT')
    })
})

describe('svc profile show', () => {
  beforeEach(() => run(`profile create prod --base-url ${url} --with-key`, { stdin: key }))
  test('masks the key in every format unless --reveal', async () => {
    for (const format of ['table', 'json', 'yaml', 'csv', 'tsv', 'ndjson']) {
      expect((await run(`profile show -o ${format}`)).out).toContain('svc_org_1a2b3c4d_••••')
      expect((await run(`profile show -o ${format}`)).out).not.toContain(key)
      expect((await run(`profile show --reveal -o ${format}`)).out).toContain(key)
    }
  })
  test('names the argument as the source of the profile with --explain', async () => {
    const { out } = await run('profile show prod --explain -o json')
    expect(JSON.parse(out)).toContainEqual({
      setting: 'profile',
      value: 'prod',
      source: 'argument',
      from: 'svc profile show prod',
    })
  })
  test('names each value and its source with --explain, without a secret', async () => {
    const { out } = await run('profile show --explain -o json --base-url https://flag.example/api', {
      env: { SVC_ORG: 'umbrella', SVC_API_KEY: key },
    })
    const rows = JSON.parse(out) as object[]
    expect(rows).toContainEqual({
      setting: 'base_url',
      value: 'https://flag.example/api',
      source: 'flag',
      from: '--base-url',
    })
    expect(rows).toContainEqual({ setting: 'org', value: 'umbrella', source: 'environment', from: 'SVC_ORG' })
    expect(rows).toContainEqual({
      setting: 'profile',
      value: 'prod',
      source: 'profile',
      from: 'svc profile use',
    })
    expect(rows).toContainEqual({
      setting: 'api_key',
      value: 'svc_org_1a2b3c4d_••••',
      source: 'environment',
      from: 'SVC_API_KEY',
    })
    expect(rows).toContainEqual({ setting: 'mcp_url', value: null, source: null, from: null })
  })
})

describe('svc profile set, use, remove, list', () => {
  beforeEach(async () => {
    await run(`profile create prod --base-url ${url} --with-key`, { stdin: key })
    await run(`profile create test --base-url ${url}`)
  })
  test('set changes the named or the current profile, and an empty value removes a field', async () => {
    await run('profile set test org=acme protected=true default-factors=biometric,location')
    expect(saved().profiles.test).toMatchObject({
      org: 'acme',
      protected: true,
      default_factors: 'biometric,location',
    })
    await run('profile set test org=')
    expect(saved().profiles.test.org).toBeUndefined()
    await run('profile set cacert=ca.pem')
    expect(saved().profiles.prod.cacert).toBe(join(dir, 'ca.pem'))
  })
  test('set keeps a key with the address that it was saved for, and says so', async () => {
    const { err } = await run('profile set prod base_url=https://other.example/admin/public/api')
    expect(err).toContain('Its key was saved for https://host.example')
    expect(saved().profiles.prod.api_key_origin).toBe('https://host.example')
  })
  test('set says that mcp_url still points to the address before', async () => {
    await run('profile set prod mcp_url=https://old.example/mcp')
    const move = 'profile set prod base_url=https://new.example/admin/public/api'
    const { err } = await run(`${move} --dry-run`)
    expect(err).toContain(
      'mcp_url still points to https://old.example: svc profile set prod mcp_url=https://new.example/mcp',
    )
    expect((await run(`${move} mcp_url=https://new.example/mcp --dry-run`)).err).not.toContain(
      'mcp_url still',
    )
  })
  test('set rejects secrets and unknown fields', async () => {
    expect(await run('profile set prod api_key=x')).toMatchObject({
      exit: 2,
      err: expect.stringContaining('svc profile login'),
    })
    expect(await run('profile set prod constructor=x')).toMatchObject({ exit: 2 })
  })
  test('use and remove change the current profile', async () => {
    await run('profile use test')
    expect(saved().current).toBe('test')
    expect(await run('profile remove test')).toMatchObject({ exit: 2, err: expect.stringContaining('--yes') })
    expect((await run('profile remove test --yes')).exit).toBe(0)
    expect(saved()).toMatchObject({ profiles: { prod: {} } })
    expect(saved().current).toBeUndefined()
    expect((await run('profile use test')).err).toContain('existing profiles: prod')
  })
  test('list shows each address and whether there is a key, never the key', async () => {
    const { out } = await run('profile list')
    expect(out).toBe(`prod\ttrue\t${url}\t\tsaved\t\tfalse\ntest\tfalse\t${url}\t\t\t\tfalse\n`)
  })
})

import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../temporary-folder.ts'
import { svc } from '../svc.ts'

let home: string
let remove: () => void
let work: string
beforeEach(async () => {
  ;({ path: home, remove } = temporaryFolder())
  work = join(home, 'code', 'acme')
  mkdirSync(work, { recursive: true })
  for (const name of ['local', 'prod', 'staging'])
    await run(`profile create ${name} --base-url https://${name}.example/admin/public/api`)
})
afterEach(() => remove())

const run = (line: string, env: Record<string, string> = {}, cwd = work) =>
  svc(line, { env: { HOME: home, SVC_CONFIG_DIR: join(home, '.config', 'svc'), ...env }, cwd })
const put = (text: string, dir = work): string => {
  const path = join(dir, '.svcrc')
  writeFileSync(path, text, { mode: 0o644 })
  return path
}
const profile = async (args = '', env = {}, cwd = work) => {
  const { out } = await run(`profile show --explain -o json${args}`, env, cwd)
  return (JSON.parse(out) as { setting: string; value: string; source: string; from: string }[]).find(
    ({ setting }) => setting === 'profile',
  )
}

describe('.svcrc', () => {
  test('selects the profile for its folder and the folders below', async () => {
    const path = put('# who this is for\n\nprofile: prod\n', join(home, 'code'))
    expect(await profile()).toEqual({ setting: 'profile', value: 'prod', source: '.svcrc', from: path })
    expect(await profile('', {}, home)).toMatchObject({ value: 'local', source: 'profile' })
  })
  test('is overridden by the variable, and both by the flag', async () => {
    put('profile: prod')
    expect(await profile('', { SVC_PROFILE: 'staging' })).toMatchObject({ value: 'staging' })
    expect(await profile(' --profile local', { SVC_PROFILE: 'staging' })).toMatchObject({ value: 'local' })
  })
  test('is searched upwards to the nearest one, but not above the home folder', async () => {
    put('profile: staging', join(home, 'code'))
    put('profile: prod')
    expect(await profile()).toMatchObject({ value: 'prod' })
    rmSync(join(work, '.svcrc'))
    expect(await profile('', { HOME: work })).toMatchObject({ value: 'local' })
  })
  test('is named by --debug', async () => {
    const path = put('profile: prod')
    const { err } = await run('org delete 1 --debug --dry-run')
    expect(err).toContain(`profile prod (${path})`)
  })
  test('overrides `svc profile use`, which says so', async () => {
    const path = put('profile: prod')
    expect((await run('profile use staging')).err).toContain(`${path} selects prod instead`)
    expect((await run('profile use prod')).err).toBe('')
  })
  test('can only name a profile of this user', async () => {
    const path = put('profile: theirs')
    const { exit, err } = await run('org list')
    expect(exit).toBe(5)
    expect(err).toContain(`${path} names the profile "theirs"`)
    expect(err).toContain('hint: svc profile create theirs')
  })

  const secret = `svc_org_1a2b3c4d_${'k'.repeat(43)}`
  const wrong: [string, string, RegExp][] = [
    [
      'a key',
      `profile: prod\napi_key: ${secret}`,
      /contains api_key: it can only name a profile, never a secret/,
    ],
    ['a key alone', secret, /must contain one line/],
    ['a key for a name', `profile: ${secret}`, /contains what looks like a secret/],
    ['an assignment of a token', `MCP_AUTH_TOKEN=${secret}`, /contains MCP_AUTH_TOKEN: it can only name/],
    [
      'an address',
      'profile: prod\nbase_url: https://evil.example',
      /contains base_url, which svc does not know/,
    ],
    ['JSON', '{"profile": "prod"}', /must contain one line/],
    ['two names', 'profile: prod\nprofile: staging', /must contain one line/],
    ['nothing', '', /must contain one line, "profile: NAME"/],
    ['a bidirectional override in the name', 'profile: prod\u202ex', /does not contain a valid profile name/],
    ['a long text', `profile: prod\n${'# x\n'.repeat(2000)}`, /is too long/],
  ]
  for (const [what, text, message] of wrong)
    test(`is rejected with ${what}, which is not repeated`, async () => {
      put(text)
      const { exit, err } = await run('profile show')
      expect(exit).toBe(2)
      expect(err).toMatch(message)
      expect(err).toMatch(/hint: .*--profile NAME or SVC_PROFILE/)
      expect(err).not.toContain(secret)
      expect((await run('profile show', { SVC_PROFILE: 'local' })).exit).toBe(0)
    })
  test('is rejected if others can write to it, with the command that corrects it', async () => {
    const path = put('profile: prod')
    chmodSync(path, 0o666)
    const { exit, err } = await run('profile show')
    expect(exit).toBe(2)
    expect(err).toContain(`hint: chmod go-w ${path}`)
  })
  test('is rejected as a symbolic link', async () => {
    writeFileSync(join(home, 'elsewhere'), 'profile: prod')
    symlinkSync(join(home, 'elsewhere'), join(work, '.svcrc'))
    expect((await run('profile show')).err).toMatch(/is not a regular file/)
  })
})

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { svcHere } from './prepare.ts'
import { onTerminal } from './terminal.ts'
import { env, folder, installHooks, ok, operator, service, newPerson } from './profile-folder.ts'

installHooks()

const enter = '\r'
const saved = join(folder.path, 'config', 'profiles.json')

describe('svc profile login', () => {
  let profiles = 0
  beforeEach(() => ok(['profile', 'create', `p${++profiles}`, '--base-url', service.baseUrl]))

  test('prompts without echo, tests the key, and saves it for its owner alone', async () => {
    const { exit, screen } = await onTerminal(['profile', 'login', `p${profiles}`, '--with-key'], env, [
      [/API key for http/, `${operator}${enter}`],
    ])
    expect(exit).toBe(0)
    expect(screen).toMatch(/The key works at http/)
    expect(screen).not.toContain(operator)
    expect(statSync(saved).mode & 0o777).toBe(0o600)
    expect(await ok(['org', 'list', '-p', `p${profiles}`])).toBe('')
  })
  test('does not save a key that the service rejects', async () => {
    const before = readFileSync(saved, 'utf8')
    const wrong = `svc_op_00000000_${'x'.repeat(43)}`
    const { exit, stderr } = await svcHere(['profile', 'login', `p${profiles}`, '--with-key'], env, wrong)
    expect(exit).toBe(4)
    expect(stderr).not.toContain(wrong)
    expect(readFileSync(saved, 'utf8')).toBe(before)
  })
})

describe('a confirmation prompt', () => {
  let slug: string
  let id: number
  beforeAll(async () => {
    const { org } = await newPerson()
    ;({ slug, id } = org)
    await ok(
      ['profile', 'create', 'guarded', '--base-url', service.baseUrl, '--protected', '--with-key'],
      operator,
    )
    await ok(['profile', 'create', 'plain', '--base-url', service.baseUrl, '--with-key'], operator)
  })
  const where = (profile: string) =>
    new RegExp(`in organization ${slug} \\(${slug}\\) at http://127\\.0\\.0\\.1:\\d+, profile ${profile}`)

  test('shows the organization, the address and the profile, and wants its slug', async () => {
    const { exit, screen } = await onTerminal(['org', 'delete', String(id), '-p', 'plain'], env, [
      [new RegExp(`Type ${slug} to continue`), `y${enter}`],
    ])
    expect(screen.replaceAll(/\r?\n/g, '')).toMatch(where('plain'))
    expect(exit).toBe(1)
  })
  test('requires the slug also without a terminal in a protected profile', async () => {
    const { exit, screen } = await onTerminal(['org', 'delete', String(id), '-p', 'guarded'], env, [
      [new RegExp(`Type ${slug} to continue`), `y${enter}`],
    ])
    expect(screen.replaceAll(/\r?\n/g, '')).toMatch(where('guarded'))
    expect(exit).toBe(1)
    const raw = await svcHere(['api', `/organization/${id}/delete`, '-X', 'DELETE', '-p', 'guarded'], env)
    expect(raw.exit).toBe(2)
    expect(raw.stderr).toContain(`--confirm /organization/${id}/delete`)
    expect((await svcHere(['org', 'delete', slug, '--yes', '-p', 'guarded'], env)).stderr).toContain(
      `hint: svc org delete ${slug} -p guarded --confirm ${slug}`,
    )
  })
})

import { existsSync, statSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { svcHere } from './prepare.ts'
import { startServiceHere } from './service-here.ts'
import { env, installHooks, ok, operator, path, people } from './approvals.ts'

installHooks()

describe('svc user enroll --software', () => {
  test('creates a file for its owner alone, and does not overwrite it', async () => {
    const file = path(`approver-${people}.json`)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const before = readFileSync(file, 'utf8')
    const again = await svcHere(['user', 'enroll', String(people), '--software', '--file', file], env)
    expect(again).toMatchObject({ exit: 2, stderr: expect.stringContaining('is not overwritten') })
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  test('creates a second key as pending, and explains how it replaces the first', async () => {
    const file = path('second.json')
    const enroll = ['user', 'enroll', String(people), '--software', '--file', file, '-o', 'id']
    const enrolled = await svcHere(enroll, env)
    expect(enrolled).toMatchObject({ exit: 0, stderr: expect.stringContaining('It is pending') })
    const first = await ok(['user', 'devices', 'list', String(people), '--jq', '.[0].id'])
    const revoke = ['user', 'devices', 'revoke', first.trim(), '--yes', '--jq', '.next']
    expect(await ok(revoke)).toContain('The user has no active device now')
    const digits = await ok(['user', 'devices', 'list', String(people), '--jq', '.[1].comparison_code'])
    const approve = ['user', 'devices', 'approve', enrolled.stdout.trim(), '--yes']
    await ok([...approve, '--comparison-code', digits.trim()])
    const id = (await ok(['approve', 'submit', 'one', '-o', 'id'])).trim()
    expect(await ok(['approve', 'inbox', '--authenticator', file, '--approve', id])).toContain('approved')
  })

  test('does not sign with a revoked key', async () => {
    const file = path('revoked.json')
    const name = ['--first-name', 'Ed', '--last-name', 'D', '--email', 'ed@acme.example']
    const phone = ['--country-code', '+1', '--mobile', '2025559901']
    const user = await ok(['user', 'create', '--org', 'acme', ...name, ...phone, '-o', 'id'])
    const made = await ok(['user', 'enroll', user.trim(), '--software', '--file', file, '-o', 'id'])
    const to = ['--to', '+12025559901']
    const yes = (await ok(['approve', 'submit', 'one', ...to, '-o', 'id'])).trim()
    await ok(['approve', 'inbox', '--authenticator', file, '--approve', yes])
    await ok(['user', 'devices', 'revoke', made.trim(), '--org', 'acme', '--yes'])
    const refused = await svcHere(['approve', 'submit', 'two', ...to], env)
    expect(refused).toMatchObject({
      exit: 3,
      stderr: expect.stringMatching(
        /No active user with this phone[^]*who is not there: svc user create\. .*: svc user enroll/,
      ),
    })
  })

  test('is rejected by a service without --dev, and leaves no file', async () => {
    const strict = await startServiceHere(path('strict'), operator)
    try {
      const there = { ...env, SVC_BASE_URL: strict.baseUrl }
      const name = ['--first-name', 'Ada', '--last-name', 'L', '--email', 'ada@acme.example']
      await svcHere(['org', 'create', '--name', 'Acme', '--slug', 'acme'], there)
      await svcHere(['user', 'create', ...name, '--country-code', '+1', '--mobile', '2025550101'], there)
      const refused = await svcHere(
        ['user', 'enroll', '1', '--software', '--file', path('strict.json')],
        there,
      )
      expect(refused).toMatchObject({ exit: 4, stderr: expect.stringContaining('--dev') })
      expect(existsSync(path('strict.json'))).toBe(false)
    } finally {
      await strict.stop()
    }
  })
})

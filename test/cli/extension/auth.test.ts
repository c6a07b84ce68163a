import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { json, type Answering } from '../../fake-hosted.ts'
import { folder, installHooks, run, service } from '../other-service.ts'

installHooks()

const success = (message: string, data?: object): Answering => json(200, { status: 'success', message, data })
const refused = (status: number, code: string, more: object = {}): Answering =>
  json(status, { status: 'error', message: `It says ${code}`, data: { code, ...more } })
const promptData = { request_id: 'apr_1', user_id: 7, number: null, expires_at: '2099-01-01T00:00:00.000Z' }

const bodies = () => {
  const posted = service.seen.filter(({ method }) => method === 'POST')
  return posted.map(({ path, body }) => [path.split('/api')[1], JSON.parse(body || 'null')])
}

describe('svc auth and svc mobile, from the table', () => {
  test('results sends the device as an object, from flat flags', async () => {
    const words = 'auth results --user 7 --biometric-result PASS --geo-fence-result FAIL --device-id 5'
    const { exit } = await run(`${words} --platform ios --timestamp 2030-01-31T12:00:00Z`.split(' '))
    expect([exit, bodies()[0]![1]]).toEqual([
      0,
      {
        user_id: '7',
        biometric_result: 'PASS',
        geo_fence_result: 'FAIL',
        device_info: { device_id: '5', platform: 'ios' },
        timestamp: '2030-01-31T12:00:00Z',
      },
    ])
    const missing = await run(words.split(' '))
    expect([missing.exit, missing.err]).toEqual([2, expect.stringContaining('--platform, --timestamp')])
  })

  test('verify-user prompts, and --dry-run does not', async () => {
    service.always(success('Prompt sent', promptData))
    const verify = ['auth', 'verify-user', '--country-code', '+1', '--mobile', '(202) 555-0101']
    expect((await run([...verify, '-o', 'id'])).out).toBe('apr_1\n')
    expect((await run([...verify, '--dry-run'])).out).toContain('POST')
    expect(service.seen).toHaveLength(1)
  })

  test.each([
    ['denied', 403, 6],
    ['pending', 409, 8],
    ['expired', 410, 7],
    ['spent', 410, 7],
  ])('validate exits with the code of the response: %s', async (code, status, exitCode) => {
    service.always(refused(status, code))
    expect((await run(['auth', 'validate', '--mobile', '+12025550101'])).exit).toBe(exitCode)
  })

  test.each([
    [undefined, 0, 'The answer names no verification, so it does not prove that the person approved'],
    [{ request_id: 'apr_other' }, 1, 'about another verification'],
    [{ request_id: 'apr_1', user_id: '7' }, 0, ''],
  ])('validate shows the answer, and says if it names no verification: %j', async (data, exit, message) => {
    service.always(success('User validated', data))
    const words = ['auth', 'validate', '--mobile', '+12025550101', '--request-id', 'apr_1']
    const done = await run(words)
    expect([done.exit, done.err]).toEqual([exit, expect.stringContaining(message)])
    expect(done.out.includes('User validated')).toBe(data === undefined)
  })

  test('faceauth-success reads its token from a file, and never prints it', async () => {
    const secret = 'canary-token-2Rb'
    const file = join(folder.path, 'token.txt')
    writeFileSync(file, `${secret}\n`)
    const words = ['mobile', 'faceauth-success', '--auth-token-file', file]
    const runs = [await run([...words, '--debug']), await run([...words, '--dry-run'])]
    runs.push(await run([...words, '--dry-run', '-o', 'json']))
    expect(service.seen.map(({ method, path }) => [method, path])).toEqual([
      ['GET', `/admin/public/api/save/faceauth/success/${secret}`],
    ])
    for (const { out, err } of runs) expect(out + err).not.toContain(secret)
    expect((await run(['mobile', 'faceauth-success', secret])).exit).toBe(2)
  })
})

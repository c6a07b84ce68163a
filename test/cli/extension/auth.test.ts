import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { follow } from '../../../src/cli/extension/auth.ts'
import { withHosted } from '../../client/hosted.ts'
import { cut, json, type Answering } from '../../fake-hosted.ts'
import { folder, installHooks, run, service } from '../other-service.ts'

installHooks()

const success = (message: string, data?: object): Answering => json(200, { status: 'success', message, data })
const refused = (status: number, code: string, more: object = {}): Answering =>
  json(status, { status: 'error', message: `It says ${code}`, data: { code, ...more } })
const factors = [
  { factor: 'decision', policy: 'required', result: 'FAIL', reason: 'the person denied', source: 'service' },
  { factor: 'biometric', policy: 'required', result: 'PASS', reason: 'verified', source: 'service' },
]
const promptData = { request_id: 'apr_1', user_id: 7, number: null, expires_at: '2099-01-01T00:00:00.000Z' }

const respond = (prompt: Answering, ...answers: Answering[]): void =>
  service.always((request, response) => {
    if (request.path.startsWith('/svc/v1/approvals')) return success('Approvals', [])(request, response)
    const answer = request.path.endsWith('/verify-user')
      ? prompt
      : (answers.shift() ?? refused(409, 'pending'))
    return answer(request, response)
  })
const posted = () => service.seen.filter(({ method }) => method === 'POST')
const bodies = () => posted().map(({ path, body }) => [path.split('/api')[1], JSON.parse(body || 'null')])

const verify = ['auth', 'verify-user', '--country-code', '+1', '--mobile', '(202) 555-0101']

describe('svc auth verify-user --wait', () => {
  test('sends one prompt, polls by the full number and the request, and prints each factor', async () => {
    respond(
      success('Prompt sent', promptData),
      refused(409, 'pending'),
      success('Verified', { user_id: 7, factors: factors.slice(1), request_id: 'apr_1' }),
    )
    const { exit, out } = await run([...verify, '--wait'])
    expect([exit, out]).toEqual([0, 'biometric\trequired\tPASS\tservice\tverified\n'])
    const validate = ['/validate/global/auth', { mobile: '+12025550101', request_id: 'apr_1' }]
    expect(bodies()).toEqual([
      ['/verify-user', { country_code: '+1', mobile: '(202) 555-0101' }],
      validate,
      validate,
    ])
  })

  test('prompts nobody through another service', async () => {
    service.always(refused(404, 'no_such_route'))
    const { exit, err } = await run([...verify, '--wait'])
    expect(exit).toBe(1)
    expect(err).toContain('--wait does not work with http://127.0.0.1')
    expect(posted()).toEqual([])
  })

  test.each([
    ['denied', 403, 6],
    ['expired', 410, 7],
  ])('exits with the code of the result: %s', async (code, status, exitCode) => {
    respond(success('Prompt sent', promptData), refused(status, code, { factors }))
    const { exit, out, err } = await run([...verify, '--wait', '-o', 'json'])
    expect([exit, JSON.parse(out)]).toEqual([exitCode, { status: code, request_id: 'apr_1', code, factors }])
    expect(err).toContain(`It says ${code}`)
  })

  test('exits 8 when nobody has answered in time', async () => {
    respond(success('Prompt sent', { ...promptData, expires_at: '2000-01-01T00:00:00.000Z' }))
    let at = Date.parse('2026-01-01T00:00:00.000Z')
    const io = { now: () => new Date((at += 6_000)) }
    const { exit, out } = await run([...verify, '--wait', '-o', 'json'], io)
    expect([exit, JSON.parse(out).status]).toEqual([8, 'pending'])
  })

  test('prints the number to type, and on Ctrl-C how to continue', async () => {
    const controller = new AbortController()
    respond(success('Prompt sent', { ...promptData, number: '42' }), (request, response) => {
      controller.abort()
      return refused(409, 'pending')(request, response)
    })
    const { exit, err } = await run([...verify, '--wait'], { signal: controller.signal })
    expect(exit).toBe(130)
    expect(err).toContain('Number to type on the phone: 42')
    expect(err).toContain('hint: svc auth validate --mobile +12025550101 --request-id apr_1 shows the answer')
  })

  test('does not wait when no phone was prompted, and prompts once when that is unknown', async () => {
    respond(refused(409, 'approver_not_enrolled'))
    expect((await run([...verify, '--wait'])).exit).toBe(3)
    respond(cut)
    const { exit, err } = await run([...verify, '--wait'])
    expect([exit, err]).toEqual([9, expect.stringContaining('may have been notified')])
    expect(posted()).toHaveLength(2)
  })

  test('only prompts without --wait, and --dry-run does not even prompt', async () => {
    respond(success('Prompt sent', promptData))
    expect((await run([...verify, '-o', 'id'])).out).toBe('apr_1\n')
    expect((await run([...verify, '--dry-run'])).out).toContain('POST')
    expect((await run([...verify, '--dry-run', '--wait'])).out).toContain('POST')
    expect(service.seen).toHaveLength(1)
  })
})

const verified = success('Verified', { request_id: 'apr_1' })
const start = async (seconds: number, ...answers: Answering[]) => {
  const { client, service } = await withHosted()
  let at = 0
  const slept: number[] = []
  const lost: string[] = []
  service.always((request, response) =>
    (request.path === '/health' ? json(404, {}) : (answers.shift() ?? refused(409, 'pending')))(
      request,
      response,
    ),
  )
  const outcome = follow({
    client,
    input: { mobile: '+12025550101', request_id: 'apr_1' },
    seconds,
    signal: new AbortController().signal,
    now: () => at,
    sleep: async (ms) => {
      slept.push(ms)
      at += ms
    },
    lost: ({ code }) => lost.push(code),
  })
  return { outcome, slept, lost }
}

describe('polling for a verification', () => {
  test('polls at growing intervals, until ten seconds after the end', async () => {
    const { outcome, slept } = await start(60)
    expect((await outcome).exit).toBe('pending')
    expect(slept.slice(0, 5)).toEqual([0, 500, 750, 1125, 1687.5])
    expect(Math.max(...slept)).toBe(5_000)
    expect(slept.reduce((sum, ms) => sum + ms)).toBeGreaterThanOrEqual(70_000)
  })

  test('survives a broken connection, a store that is unavailable, a rate limit and a restart', async () => {
    const noStore = refused(503, 'storage_unavailable')
    const { outcome, lost } = await start(60, cut, noStore, refused(429, 'limited'), json(502, []), verified)
    expect((await outcome).exit).toBe('done')
    expect(lost).toHaveLength(4)
  })

  test('ends with a refusal that does not pass', async () => {
    const { outcome } = await start(60, cut, refused(404, 'x'), verified)
    await expect(outcome).rejects.toMatchObject({ code: 'x' })
  })

  test.each([undefined, {}, { request_id: 'apr_2' }, { request_id: null }])(
    'does not trust a success that does not name the verification: %j',
    async (data) => {
      for (const answers of [[], [refused(409, 'pending')]])
        await expect((await start(60, ...answers, success('OK', data))).outcome).rejects.toMatchObject({
          code: 'unexpected_answer',
        })
    },
  )

  test('takes nothing but a plain success as a yes', async () => {
    for (const answer of [json(200, { status: 'ok', message: '' }), json(200, []), refused(404, 'not_found')])
      await expect((await start(60, answer)).outcome).rejects.toMatchObject({ name: 'SvcError' })
  })
})

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

import { chmodSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { personIn, notifyOnce } from '../../../src/cli/approve/repeated-notice.ts'
import { memoryIo } from '../memory-io.ts'
import { openContext } from '../../../src/cli/main.ts'
import { temporaryFolder } from '../../temporary-folder.ts'

let dir: string
let remove: () => void
beforeEach(() => {
  ;({ path: dir, remove } = temporaryFolder())
})
afterEach(() => {
  chmodSync(dir, 0o700)
  remove()
})

const start = Date.parse('2026-01-01T12:00:00.000Z')
const at = (minutes: number) => new Date(start + minutes * 60_000)
const ring = async (
  minutes: number,
  {
    person = '+12025550101',
    status = 'pending',
    url = 'https://a.example/x',
    key = 'one',
    request_id = `apr_${minutes}`,
    fails = false,
  } = {},
): Promise<string> => {
  const io = memoryIo({ env: { SVC_CONFIG_DIR: dir }, now: () => at(minutes) })
  const data = { request_id, expires_at: at(5).toISOString() }
  const sent = notifyOnce(openContext(io), person, {
    origin: new URL(url).origin,
    key,
    send: async () => {
      if (fails) throw new Error('no')
      return data
    },
    requestIn: (answer) => answer,
    statusOf: async () => status,
  })
  await sent.catch(() => undefined)
  return io.err()
}

describe('svc, after it notified a person,', () => {
  test('prints nothing the first time, or about another person, service or key', async () => {
    expect(await ring(0)).toBe('')
    expect(await ring(1, { person: '+12025550102' })).toBe('')
    expect(await ring(1, { url: 'https://b.example/x' })).toBe('')
    expect(await ring(1, { key: 'two' })).toBe('')
  })
  test('says when it notified the same person, and that the request is still pending', async () => {
    await ring(0)
    expect(await ring(2)).toBe(
      'This person was already asked 2 minutes ago, and that request is still pending. To withdraw it: svc approve cancel apr_0\n',
    )
  })
  test('says only when, if the request has ended or expired', async () => {
    await ring(0)
    expect(await ring(1, { status: 'approved' })).toBe('This person was already asked a minute ago\n')
    await ring(2)
    expect(await ring(8)).toBe('This person was already asked 6 minutes ago\n')
  })
  test('prints nothing about a request that was refused', async () => {
    await ring(0)
    expect(await ring(1, { fails: true })).toBe('')
  })
  test('prints nothing about the same request again', async () => {
    await ring(0)
    expect(await ring(1, { request_id: 'apr_0' })).toBe('')
  })
  test('prints nothing after ten minutes', async () => {
    await ring(0)
    expect(await ring(10)).toBe('')
  })
  test('does not count a request that failed', async () => {
    await ring(0, { fails: true })
    expect(await ring(1)).toBe('')
  })
  test('stores no phone number, in a file that nobody else can read', async () => {
    await ring(0)
    const [file] = readdirSync(join(dir, 'cache'))
    expect(statSync(join(dir, 'cache', file!)).mode & 0o777).toBe(0o600)
    expect(file! + readFileSync(join(dir, 'cache', file!), 'utf8')).not.toContain('2025550101')
  })
})

describe('the person that an input notifies', () => {
  const same: [string, Record<string, unknown>, string | undefined][] = [
    ['approve submit', { approvers: ['+12025550101', '@sre'] }, '+12025550101 @sre'],
    ['auth verify-user', { country_code: '+1', mobile: '2025550101' }, '+12025550101'],
    ['notify global', { mobile: '+12025550101', type: 'alert' }, undefined],
    ['notify email', { email: 'ada@acme.example' }, 'ada@acme.example'],
    ['mobile support', { mobile: '+12025550101' }, undefined],
    ['org create', { name: 'x' }, undefined],
  ]
  for (const [cli, input, person] of same)
    test(`is ${person ?? 'nobody'} for ${cli}`, () => expect(personIn({ cli }, input)).toBe(person))
})

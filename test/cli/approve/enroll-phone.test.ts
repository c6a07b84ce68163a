import { expect, test } from 'vitest'
import { json } from '../../fake-hosted.ts'
import { installHooks, run, service } from '../other-service.ts'

installHooks()

const token = 'x'.repeat(43)
const enroll = async (
  origin: string,
  {
    args = [],
    env = {},
    proof,
    ...options
  }: {
    tty?: boolean
    columns?: number
    args?: string[]
    env?: Record<string, string>
    proof?: string | undefined
  } = {},
) => {
  const data = {
    url: `${origin}/approver#enroll=${token}`,
    token,
    expires_at: '2026-01-01T00:10:00.000Z',
    rp_id: 'x',
    origin,
    challenge: 'c',
    user_handle: 'u',
    proof,
  }
  service.always(json(200, { status: 'success', message: 'Enrollment started', data }))
  return run(['user', 'enroll', '7', '--org', '1', ...args], { tty: true, ...options, env })
}

test('a terminal shows the link as a QR code and as text, and how long it is valid', async () => {
  const { exit, out } = await enroll('https://svc.example.com')
  expect(exit).toBe(0)
  expect(out).toContain('\u001B[38;5;231;48;5;16m█████')
  expect(out).toContain(`  https://svc.example.com/approver#enroll=${token}\n`)
  expect(out).toContain('one device, until 2026-01-01T00:10:00Z')
  expect(out).not.toMatch(/--public-url|challenge/)
  expect(JSON.parse(service.seen[0]!.body)).toEqual({})
})

test('a terminal without colours has no escape codes', async () => {
  const { out } = await enroll('https://svc.example.com', { env: { NO_COLOR: '1' } })
  expect(out).toContain('█████')
  expect(out).not.toContain('\u001B')
})

test('a narrow terminal shows only the link', async () => {
  const { out } = await enroll('https://svc.example.com', { columns: 40 })
  expect(out).not.toContain('█')
  expect(out).toContain('45 columns')
  expect(out).toContain(`#enroll=${token}`)
})

test.each([
  ['otp', 'asks for a code'],
  ['device', 'Another device of the user must then approve it'],
  ['admin', 'an administrator must then approve this one'],
])('a device with the proof %s gets instructions for the next step', async (proof, message) => {
  expect((await enroll('https://svc.example.com', { proof, columns: 200 })).out).toContain(message)
  for (const other of [undefined, 'link', 'constructor'])
    expect((await enroll('https://svc.example.com', { proof: other })).out).not.toContain('then')
})

test.each([
  ['http://127.0.0.1:8080', 'opens on this machine only'],
  ['http://localhost:8080', 'opens on this machine only'],
  ['http://svc.example.com', 'over https only'],
])('%s prints what a phone requires instead of a QR code', async (origin, message) => {
  const { out } = await enroll(origin, { columns: 200 })
  expect(out).toContain(message)
  expect(out).not.toMatch(/█|Scan/)
  expect(out).toContain('--public-url https://svc.example.com, with --tls-cert and --tls-key')
})

test('a terminal breaks no word but the link', async () => {
  const { out } = await enroll('http://127.0.0.1:8080', { proof: 'admin', columns: 60 })
  const long = out.split('\n').filter((line) => line.length > 60 && !line.startsWith('\u001B'))
  expect(long).toEqual([`  http://127.0.0.1:8080/approver#enroll=${token}`])
})

test('text of the service is escaped on the terminal', async () => {
  const { out } = await enroll('https://evil.example/\u001B]0;x\u0007\u202e')
  expect(out).not.toContain('\u001B]')
  expect(out).not.toContain('\u202e')
})

test.each([
  ['piped', { tty: false }],
  ['as JSON', { args: ['-o', 'json'] }],
])('output %s contains the link and no QR code', async (_, options) => {
  const { exit, out } = await enroll('https://svc.example.com', options)
  expect(exit).toBe(0)
  expect(out).toContain(`#enroll=${token}`)
  expect(out).not.toContain('█')
})

test('a dry run does not create a link', async () => {
  const { exit, out } = await enroll('https://svc.example.com', { args: ['--dry-run'] })
  expect([exit, service.seen]).toEqual([0, []])
  expect(out).toContain('/enrollments')
})

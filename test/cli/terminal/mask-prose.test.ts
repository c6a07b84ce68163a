import { describe, expect, test } from 'vitest'
import { maskProse } from '../../../src/cli/terminal/mask-prose.ts'
import { svc } from '../svc.ts'

test.each([
  ['Asked +12025550101: Deploy', 'Asked +1••••••0101: Deploy'],
  ['to "+4915112345678".', 'to "+4••••••••5678".'],
  ['GET /x?mobile=%2B12025550101', 'GET /x?mobile=%2B12025550101'],
  ['GET /x?a&%2B12025550101', 'GET /x?a&+1••••••0101'],
  ['at 10:00+0100, id +123', 'at 10:00+0100, id +123'],
  ['must start with +, such as +12025550101', 'must start with +, such as +12025550101'],
  ["svc approve request 'Deploy' --to +12025550101", "svc approve request 'Deploy' --to +12025550101"],
  [
    "svc profile set prod 'default_mobile=+12025550101'",
    "svc profile set prod 'default_mobile=+12025550101'",
  ],
])('%s', (text, masked) => expect(maskProse(text)).toBe(masked))

// Nothing listens there: a command that sends a request fails as unreachable.
const env = { SVC_BASE_URL: 'http://127.0.0.1:9/admin/public/api', SVC_API_KEY: 'k' }
const number = '+4915112345678'

describe('standard error never has the whole number of a person, on a terminal or in a log', () => {
  test.each([
    ['approve request x --org', '1', '--to', `${number}9999999999`],
    ['user list', `--org=${number}`],
    ['user list --org 1', '--state', number],
    ['mobile get', number],
    ['approve request', 'deploy', 'now', '--to', number],
    ['profile set a', `default_mobile=x${number}`],
    ['user delete 1 2 --org 1', '--mobile', number],
    ['notify outbox retry', number, number],
    ['user orgs --follow', '--mobile', number],
    ['key revoke', number],
    [number],
    ['user', number],
  ])('svc %s %s %s %s', async (words, ...rest) => {
    for (const tty of [false, true]) {
      const argv = [...words.split(' '), ...rest, '--no-input']
      expect((await svc(argv, { env, tty })).err).not.toContain(number.slice(2))
    }
  })

  test('unless --reveal asks for it', async () => {
    const ended = await svc(['user', 'list', '--org', '1', '--state', number, '--reveal'], { env })
    expect(ended.message).toContain(number)
  })
})

test('an error never has a key that was typed in a wrong place', async () => {
  const key = 'svc_org_1a2b3c4d_0123456789abcdefghij'
  for (const words of [
    ['user', 'list', '--org', key],
    ['key', 'revoke', key],
    [key],
    ['api', key],
    ['user', 'list', key],
  ]) {
    const { err, exit } = await svc(words, { env })
    expect([exit === 0, err.includes('0123456789abcdefghij')]).toEqual([false, false])
  }
})

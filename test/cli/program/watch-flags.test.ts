import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { commandTree, openContext } from '../../../src/cli/main.ts'
import { canRepeat } from '../../../src/cli/program/watch-flags.ts'
import { memoryIo } from '../memory-io.ts'
import { svc } from '../svc.ts'

// Nothing listens there: a command that sends a request fails as unreachable.
const env = { SVC_BASE_URL: 'http://127.0.0.1:9/admin/public/api', SVC_API_KEY: 'k' }
const run = (line: string) => svc(line, { env })

describe('a flag that can be given once is refused when it is given twice', () => {
  test.each([
    ['user list --org a --org b', '--org can be given only once, not with "a" and "b"'],
    ['user list --org a --org=a', '--org can be given only once, not with "a" and "a"'],
    ['-o json user list --org a -o csv', '-o can be given only once, not with "json" and "csv"'],
    ['--output=json user list --org a -o csv', '--output can be given only once, not with "json" and "csv"'],
    ['--base-url http://a user list --base-url http://b', /^--base-url can be given only once/],
    ['key revoke 7 --yes --yes', '--yes can be given only once'],
    ['approve submit x --limit 1 --limit 2', /--limit is not a flag/],
    [
      'org update acme --not-requester --no-not-requester',
      '--not-requester cannot be combined with --no-not-requester',
    ],
    ['user list --key-file a --key-file b --org 1', '--key-file can be given only once'],
    ['mobile confirm --otp-file a --otp-file b', '--otp-file can be given only once'],
    [
      'user list --org svc_org_1a2b3c4d_0123456789abcdef --org b',
      '--org can be given only once, not with "svc_org_1a2b3c4d_••••" and "b"',
    ],
    ['serve --port 1 --port 2', '--port can be given only once, not with "1" and "2"'],
  ])('%s', async (line, message) => {
    const ended = await run(line)
    expect(ended).toMatchObject({ exit: 2, out: '' })
    expect(ended.message).toMatch(typeof message === 'string' ? new RegExp(`^${message}$`) : message)
  })

  test.each([
    'approve run --to -- echo hi',
    'approve run --to +12025550101 --reason -- ./deploy.sh --debug',
    '--profile -- user list',
  ])('and one without a value does not take the -- for it: %s', async (line) => {
    const flag = /(--[a-z]+) --(?= )/.exec(line)![1]!
    const { message, hint } = await run(line)
    expect([message, hint]).toEqual([
      `${flag} requires a value before --`,
      `Type a value, or leave out ${flag}`,
    ])
  })

  test('with an exit code of svc, where the command runs another program', async () => {
    const ended = await run('approve run --to +12025550101 --reason a --reason b -- /bin/true')
    expect(ended).toMatchObject({ exit: 102 })
    expect(ended.err).toMatch(/^svc: --reason can be given only once/)
    expect(ended.err).not.toContain('2025550101')
  })
})

test.each(['org update 1 --factors biometric --factors time --dry-run', 'api /x -H a:1 -H b:2 --dry-run'])(
  'a flag that can be repeated is accepted twice: %s',
  async (line) => expect((await run(line)).exit).toBe(0),
)

test('help says which flags can be repeated', async () => {
  const options = ({ options: own, commands }: Command): Command['options'] => [
    ...own,
    ...commands.flatMap(options),
  ]
  const all = options(await commandTree(openContext(memoryIo())))
  const says = all.filter(({ description }) => /can be repeated|repeat or separate/.test(description))
  expect(all.filter(canRepeat)).toEqual(says)
  expect(says.length).toBeGreaterThan(20)
})

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { hostNames } from '../../../src/cli/hook/host.ts'
import { inputOf, letsRun } from '../../hook-hosts.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { svc } from '../svc.ts'

const folder = temporaryFolder()
afterAll(() => folder.remove())
const keyFile = join(folder.path, 'ask.key')
writeFileSync(keyFile, 'key', { mode: 0o600 })
const env = { SVC_CONFIG_DIR: '/nowhere' }
const run = async (host: string, input: string | Buffer | object, flags = '--to +12025550101') => {
  const stdin = typeof input === 'string' || Buffer.isBuffer(input) ? input : JSON.stringify(input)
  const way = `--base-url http://127.0.0.1:1/ --key-file ${keyFile}`
  const { exit, out, err } = await svc(`hook run ${host} ${flags} ${way}`, { env, stdin })
  return { exit, stdout: out, stderr: err }
}

describe.each(hostNames)('svc hook run %s', (host) => {
  test('has no opinion about a tool that it does not hold, without a connection', async () => {
    expect(await run(host, inputOf(host, 'ls'), '--match another*')).toEqual({
      exit: 0,
      stdout: '{}\n',
      stderr: '',
    })
  })

  test('blocks in the words of the host if the service does not answer', async () => {
    const ended = await run(host, inputOf(host, 'ls'))
    expect(ended.exit).toBe(2)
    expect(ended.stderr).toMatch(/^svc blocked this call: Nothing answers at 127.0.0.1:1. /)
    expect(ended.stdout).toContain('Nothing answers')
    expect(letsRun(host, ended)).toBe(false)
    // The verdict alone blocks too.
    expect(letsRun(host, { ...ended, exit: 0 })).toBe(false)
  })
})

test('holds a patch of Codex under the names of its matcher', async () => {
  const input = { ...inputOf('codex', '*** Begin Patch'), tool_name: 'apply_patch' }
  expect((await run('codex', input, '--match Edit --to +12025550101')).exit).toBe(2)
})

test('does not wait for a pipe in the place of its key', async () => {
  const pipe = join(folder.path, 'pipe')
  execFileSync('/usr/bin/mkfifo', [pipe])
  const { exit, err } = await svc(`hook run claude --to +12025550101 --key-file ${pipe}`, {
    env,
    stdin: JSON.stringify(inputOf('claude', 'ls')),
  })
  expect([exit, err]).toEqual([2, expect.stringContaining(`${pipe} is not a regular file`)])
})

test('reads arguments that Copilot sends as text', async () => {
  const input = { ...inputOf('copilot', ''), toolArgs: '{"command":"ls"}' }
  expect((await run('copilot', input)).stderr).toContain('Nothing answers')
  expect((await run('copilot', { ...input, toolArgs: '{' })).stderr).toContain('cannot read')
})

const call = inputOf('claude', 'ls')
test.each<[string, string | Buffer | object, RegExp]>([
  ['nothing', '', /not a JSON object/],
  ['no JSON', '{"hook_event_name": "PreToolUse"', /not a JSON object/],
  ['a list', '[]', /not a JSON object/],
  [
    'a name twice',
    '{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"branch":"main","branch":"try"}}',
    /has a name twice/,
  ],
  ['another event', { ...call, hook_event_name: 'PostToolUse' }, /the event is PostToolUse, not PreToolUse/],
  ['no event', { ...call, hook_event_name: undefined }, /the event is missing/],
  ['no tool', { ...call, tool_name: undefined }, /the name of the tool is missing/],
  ['an empty tool', { ...call, tool_name: '' }, /the name of the tool is missing/],
  ['arguments that are no object', { ...call, tool_input: [1] }, /the arguments of Bash are not an object/],
  ['a folder that is no text', { ...call, cwd: 1 }, /the folder is not text/],
  [
    'arguments too large to read',
    inputOf('claude', 'x'.repeat(40_000)),
    /cannot be shown to a person: data must have at most 32768 bytes/,
  ],
  [
    'a number that JSON rounds',
    '{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"n":9007199254740993}}',
    /a number in it is too large/,
  ],
  [
    'an unpaired surrogate',
    '{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"\\ud800"}}',
    /cannot be shown/,
  ],
  [
    'bytes that are no UTF-8',
    Buffer.from(JSON.stringify(inputOf('claude', 'rm \u00ff')), 'latin1'),
    /it is not UTF-8/,
  ],
  ['9 MiB', inputOf('claude', 'x'.repeat(9 * 1024 * 1024)), /larger than 8 MiB/],
])('blocks %s on standard input', async (_, input, why) => {
  const ended = await run('claude', input)
  expect(ended.exit).toBe(2)
  expect(ended.stderr).toMatch(why)
  expect(JSON.parse(ended.stdout).hookSpecificOutput).toMatchObject({ permissionDecision: 'deny' })
})

test.each(['--match "a b"', '--from-a-later-version', '--timeout 0', '-o json', ''])(
  'blocks with the flags "%s"',
  async (flags) => {
    const ended = await run('claude', call, flags)
    expect([ended.exit, letsRun('claude', ended)]).toEqual([2, false])
    expect(ended.stderr).not.toBe('')
  },
)

test('does not wait for a person to type a call', async () => {
  const { exit, err } = await svc('hook run claude', { env, tty: true })
  expect([exit, err]).toEqual([2, expect.stringContaining('called by Claude Code, not by a person')])
})

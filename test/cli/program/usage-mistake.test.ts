import { describe, expect, test } from 'vitest'
import { run } from '../../../src/cli/main.ts'
import { memoryIo } from '../memory-io.ts'

const svc = async (line: string) => {
  // Nobody answers there: what is sent fails as unreachable.
  const io = memoryIo({ env: { SVC_BASE_URL: 'http://127.0.0.1:9/admin/public/api', SVC_API_KEY: 'k' } })
  const exit = await run(
    [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, text]) => text ?? word),
    io,
  )
  const [message = '', hint = ''] = io.err().split('\n')
  return { exit, message, hint: hint.replace(/^hint: /, ''), out: io.out() }
}

describe('a command that does not exist', () => {
  test.each([
    ['usr list --org 1', 'svc', 'svc user list', 'svc user list --org 1'],
    ['org lst', 'svc org', 'svc org list', 'svc org list'],
    ['usr lst --org 1', 'svc', 'svc user list', 'svc user list --org 1'],
    [
      'user pending acept 7 --org 1',
      'svc user pending',
      'svc user pending accept',
      'svc user pending accept 7 --org 1',
    ],
    ['list users --org 1', 'svc', 'svc user list', 'svc user list --org 1'],
    ['create org --name "Acme Corp"', 'svc', 'svc org create', "svc org create --name 'Acme Corp'"],
    ['usr', 'svc', 'svc user', 'svc user --help'],
  ])('%s: the hint is a whole command that can be typed', async (line, group, meant, hint) => {
    const ended = await svc(line)
    expect(ended).toMatchObject({ exit: 2, hint, out: '' })
    expect(ended.message).toMatch(
      new RegExp(`^svc: "\\S+" is not a command of ${group}; did you mean "${meant}"\\?$`),
    )
    // It is one: it has a help.
    expect((await svc(`${hint.replaceAll("'", '"').slice(4)} --help`)).exit).toBe(0)
  })

  test.each([
    ['foo', 'svc: "foo" is not a command of svc', 'svc --help'],
    ['user frob', 'svc: "frob" is not a command of svc user', 'svc user --help'],
    [
      'user rm 7 --org 1 --yes',
      'svc: "rm" is not a command of svc user; did you mean "svc user delete" or "svc user remove"?',
      'svc user --help',
    ],
    [
      'org auth-code',
      'svc: "svc org auth-code" requires a command: list, create, update, delete',
      'svc org auth-code --help',
    ],
  ])('%s', async (line, message, hint) => {
    expect(await svc(line)).toEqual({ exit: 2, message, hint, out: '' })
  })
})

describe('a flag that does not exist', () => {
  test.each([
    [
      'org list --limt 3',
      '--limt is not a flag of svc org list; did you mean --limit?',
      'svc org list --limit 3',
    ],
    [
      'user get 7 --org-id 1',
      '--org-id is not a flag of svc user get; did you mean --org?',
      'svc user get 7 --org 1',
    ],
    [
      'org list --outputt=json',
      '--outputt is not a flag of svc org list; did you mean --output?',
      'svc org list --output=json',
    ],
    ['org list --frobnicate', '--frobnicate is not a flag of svc org list', 'svc org list --help'],
  ])('%s', async (line, message, hint) => {
    expect(await svc(line)).toEqual({ exit: 2, message: `svc: ${message}`, hint, out: '' })
  })

  test('a secret that was typed beside it is not repeated', async () => {
    const { message, hint } = await svc('org creds set-idp --porvider okta -f client_secret=hush')
    expect(message + hint).not.toContain('hush')
  })
})

describe('arguments', () => {
  test.each([
    ['profile use', 'svc: Missing <name>', 'svc profile use prod'],
    ['user get', 'svc: Missing --org, <user-id>', 'svc user get 7 --org acme'],
    ['org get a b', 'svc: Too many arguments for svc org get: it takes 1, not 2', 'svc org get a'],
    [
      'approve cancel apr_a apr_b',
      'svc: Too many arguments for svc approve cancel: it takes 1, not 2',
      'svc approve cancel apr_a',
    ],
    [
      'mcp config foo',
      'svc: <client> must be claude, cursor, vscode or generic, not "foo"',
      'svc mcp config claude',
    ],
    ['org list --limit', 'svc: --limit requires a value: --limit <n>', 'svc org list'],
  ])('%s: the hint is an example', async (line, message, hint) => {
    expect(await svc(line)).toEqual({ exit: 2, message, hint, out: '' })
  })
})

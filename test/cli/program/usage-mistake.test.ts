import { describe, expect, test } from 'vitest'
import { svc } from '../svc.ts'

// Nothing listens there: a command that sends a request fails as unreachable.
const env = { SVC_BASE_URL: 'http://127.0.0.1:9/admin/public/api', SVC_API_KEY: 'k' }
const run = (line: string) => svc(line, { env })

describe('an unknown command', () => {
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
    ['mcp instal claude-code', 'svc mcp', 'svc mcp install', 'svc mcp install claude-code'],
    ['mcp agent list', 'svc mcp', 'svc mcp agents list', 'svc mcp agents list'],
    ['approve enroll', 'svc approve', 'svc user enroll', 'svc user enroll 7 --org acme'],
  ])('%s: the hint is a complete command', async (line, group, meant, hint) => {
    const ended = await run(line)
    expect(ended).toMatchObject({ exit: 2, hint, out: '' })
    expect(ended.message).toMatch(
      new RegExp(`^"\\S+" is not a command of ${group}; did you mean "${meant}"\\?$`),
    )
    // It exists, so it has a help.
    expect((await run(`${hint.replaceAll("'", '"').slice(4)} --help`)).exit).toBe(0)
  })

  test.each([
    ['foo', '"foo" is not a command of svc', 'svc --help'],
    ['mcp foo', '"foo" is not a command of svc mcp', 'svc mcp --help'],
    ['events', '"svc events" requires a command: tail', 'svc events --help'],
    ['user frob', '"frob" is not a command of svc user', 'svc user --help'],
    [
      'user rm 7 --org 1 --yes',
      '"rm" is not a command of svc user; did you mean "svc user delete" or "svc user remove"?',
      'svc user --help',
    ],
    [
      'org auth-code',
      '"svc org auth-code" requires a command: list, create, update, delete',
      'svc org auth-code --help',
    ],
  ])('%s', async (line, message, hint) => {
    expect(await run(line)).toMatchObject({ exit: 2, message, hint, out: '' })
  })
})

describe('a command of other programs', () => {
  test.each([
    ['login', 'svc profile login', 'svc profile login --with-key < key.txt'],
    ['auth login', 'svc profile login', 'svc profile login --with-key < key.txt'],
    [
      'login prod --base-url http://127.0.0.1:9',
      'svc profile login',
      'svc profile login prod --base-url http://127.0.0.1:9 --with-key < key.txt',
    ],
    ['logout', 'svc profile remove', 'svc profile list'],
    ['config', 'svc profile', 'svc profile --help'],
    ['config list', 'svc profile', 'svc profile list'],
    ['auth status', 'svc whoami', 'svc whoami'],
  ])('%s', async (line, meant, hint) => {
    const ended = await run(line)
    expect(ended).toMatchObject({ exit: 2, hint, out: '' })
    expect(ended.message).toContain(`did you mean "${meant}"?`)
  })
})

describe('an unknown flag', () => {
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
    expect(await run(line)).toMatchObject({ exit: 2, message, hint, out: '' })
  })

  test.each([
    [
      'mobile confirm --mobile +12025550101 --otp 000000',
      /^--otp is not a flag of svc mobile confirm; --otp-file reads it from a file/,
    ],
    ['mobile confirm --otp=000000', /--otp-file reads it/],
    ['org creds set-idp --client-secret hunter2', /--client-secret-file reads it/],
    ['org creds set-idp --org acme --client-secret=hunter2', /--client-secret-file reads it/],
  ])('takes no secret as an argument, and the hint does not repeat it: %s', async (line, message) => {
    const ended = await run(line)
    expect(ended.exit).toBe(2)
    expect(ended.message).toMatch(message)
    expect(ended.err).not.toMatch(/000000|hunter2/)
    expect(ended.hint).toMatch(/-file - ?|--help$/)
  })

  test.each([
    ['org update acme --not-requester=false', 'svc org update acme --no-not-requester'],
    ['org update acme --no-not-requester=true', 'svc org update acme --no-not-requester'],
    ['org update acme --not-requester true', 'svc org update acme --not-requester'],
    ['org list --all=yes', 'svc org list --all'],
    ['org list --all no', 'svc org list --help'],
  ])('takes no value if it is a switch: %s', async (line, hint) => {
    const ended = await run(line)
    expect(ended).toMatchObject({ exit: 2, hint })
    expect(ended.message).toMatch(/^--[a-z-]+ does not take a value$/)
  })

  test('does not repeat a secret that was typed with it', async () => {
    const { err } = await run('org creds set-idp --porvider okta -f client_secret=hush')
    expect(err).toContain('--porvider')
    expect(err).not.toContain('hush')
  })
})

describe('a wrong number of arguments', () => {
  test.each([
    ['profile use', 'Missing <name>', 'svc profile use prod'],
    ['user get', 'Missing --org, <user-id>', 'svc user get 7 --org acme'],
    ['org get a b', 'Too many arguments for svc org get: it takes 1, not 2', 'svc org get --help'],
    [
      'approve cancel apr_a apr_b',
      'Too many arguments for svc approve cancel: it takes 1, not 2',
      'svc approve cancel apr_a; svc approve cancel apr_b',
    ],
    [
      'approve request deploy to production',
      'The action must be one argument, not 3: put it in quotes',
      "svc approve request 'deploy to production'",
    ],
    [
      'approve request deploy to production --timeout 60 --to +12025550199',
      'The action must be one argument, not 3: put it in quotes',
      'svc approve request --help',
    ],
    [
      'user delete 1 2 3 --yes --org 1',
      'Too many arguments for svc user delete: it takes 1, not 3',
      'svc user delete 1 --yes --org 1; svc user delete 2 --yes --org 1; svc user delete 3 --yes --org 1',
    ],
    ['api GET organizations', 'Too many arguments for svc api: it takes 1, not 2', 'svc api /organizations'],
    [
      'api post /organization/create',
      'Too many arguments for svc api: it takes 1, not 2',
      'svc api /organization/create --method POST',
    ],
    ['user list acme', 'svc user list takes no arguments; did you mean --org?', 'svc user list --org acme'],
    [
      'user list pending',
      'svc user list takes no arguments; did you mean --state?',
      'svc user list --state pending',
    ],
    [
      'user list ada@acme.example',
      'svc user list takes no arguments; did you mean --email?',
      'svc user list --email ada@acme.example',
    ],
    [
      'org creds set-idp acme',
      'svc org creds set-idp takes no arguments; did you mean --org?',
      'svc org creds set-idp --org acme --provider okta --client-id 0oa1b2 --client-secret-file -',
    ],
    [
      'mobile get +12025550199',
      'svc mobile get takes no arguments; did you mean --mobile?',
      'svc mobile get --help',
    ],
    ['export decl', 'svc export takes no arguments; did you mean --org?', 'svc export --org decl'],
    [
      'org create Acme',
      'svc org create takes no arguments; did you mean --name?',
      'svc org create --name Acme',
    ],
    [
      'mcp config foo',
      '<client> must be claude, cursor, vscode, codex, gemini or generic, not "foo"',
      'svc mcp config claude',
    ],
    ['org list --limit', '--limit requires a value: --limit <n>', 'svc org list --help'],
  ])('%s: the hint is an example', async (line, message, hint) => {
    expect(await run(line)).toMatchObject({ exit: 2, message, hint, out: '' })
  })
})

test('a value that is not one of many gets a suggestion, and not the whole list', async () => {
  expect(await run('webhook create https://hooks.example.com --org 1 --type polcy')).toMatchObject({
    exit: 2,
    message: '--type does not accept "polcy"; did you mean policy?',
    hint: '--type policy',
  })
})

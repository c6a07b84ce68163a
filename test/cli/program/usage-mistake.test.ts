import { describe, expect, test } from 'vitest'
import { svc } from '../svc.ts'

// Nothing listens there: a command that sends a request fails as unreachable.
const env = { SVC_BASE_URL: 'http://127.0.0.1:9/admin/public/api', SVC_API_KEY: 'k' }
const run = (line: string) => svc(line, { env })

describe('an unknown command', () => {
  test.each([
    ['usr list --org 1', 'svc', 'svc user'],
    ['org lst', 'svc org', 'svc org list'],
    ['user pending acept 7 --org 1', 'svc user pending', 'svc user pending accept'],
    ['--profile org user lst --org "Acme Corp"', 'svc user', 'svc user list'],
    ['mcp instal claude-code', 'svc mcp', 'svc mcp install'],
    ['mobil get --mobile +12025550101', 'svc', 'svc mobile'],
    ['mobil confirm --otp 000000', 'svc', 'svc mobile'],
  ])('%s: names the nearest one, and the hint is a help', async (line, group, meant) => {
    const ended = await run(line)
    expect(ended).toMatchObject({ exit: 2, hint: `${group} --help`, out: '' })
    expect(ended.message).toMatch(
      new RegExp(`^"\\S+" is not a command of ${group}; did you mean "${meant}"\\?$`),
    )
    expect(ended.err).not.toMatch(/000000|2025550101/)
    expect((await run(ended.hint!.slice('svc '.length))).exit).toBe(0)
  })

  test.each([
    ['foo', '"foo" is not a command of svc', 'svc --help'],
    ['login', '"login" is not a command of svc; did you mean "svc profile login"?', 'svc --help'],
    ['version', '"version" is not a command of svc', 'svc --version'],
    ['mcp foo', '"foo" is not a command of svc mcp', 'svc mcp --help'],
    ['events', '"svc events" requires a command: tail', 'svc events --help'],
    [
      'rule update deploy',
      '"update" is not a command of svc rule',
      'Edit the rule in the output of svc export, and type svc apply FILE: a rule is replaced as a whole',
    ],
    ['approve cancel x', '"cancel" is not a command of svc approve', 'svc approve withdraw REQUEST_ID'],
    ['rule show pay', '"show" is not a command of svc rule', 'svc rule get NAME'],
    ['group update sre', '"update" is not a command of svc group', 'svc group add, svc group remove'],
    ['user frob', '"frob" is not a command of svc user', 'svc user --help'],
    [
      'org auth-code',
      '"svc org auth-code" requires a command: list, create, update, delete',
      'svc org auth-code --help',
    ],
  ])('%s', async (line, message, hint) => {
    expect(await run(line)).toMatchObject({ exit: 2, message, hint, out: '' })
  })
})

describe('an unknown flag', () => {
  test.each([
    [
      'org list --limt 3',
      '--limt is not a flag of svc org list; did you mean --limit?',
      'svc org list --help',
    ],
    [
      'org list --outputt=json',
      '--outputt is not a flag of svc org list; did you mean --output?',
      'svc org list --help',
    ],
    [
      'rule test ls --force',
      '--force is not a flag of svc rule test',
      'Write -- before a command with flags of its own: svc rule test -- COMMAND --force',
    ],
    [
      'rule test --cw /srv',
      '--cw is not a flag of svc rule test; did you mean --cwd?',
      'svc rule test --help',
    ],
    [
      '--org acme user list',
      '--org is not a flag of svc',
      'Write the flags of a command after its name: svc COMMAND --org',
    ],
    [
      'apply org.yaml --org acme',
      '--org is not a flag of svc apply',
      'The file names the organization: svc apply FILE',
    ],
    ['org list --frobnicate', '--frobnicate is not a flag of svc org list', 'svc org list --help'],
  ])('%s', async (line, message, hint) => {
    expect(await run(line)).toMatchObject({ exit: 2, message, hint, out: '' })
  })

  test.each([
    ['mobile confirm --mobile +12025550101 --otp 000000', /^--otp is not a flag of svc mobile confirm/],
    ['mobile confirm --otp=000000', /^--otp is not a flag/],
    ['org creds set-idp --client-secret hunter2', /^--client-secret is not a flag/],
    ['org creds set-idp --org acme --client-secret=hunter2', /^--client-secret is not a flag/],
  ])('takes no secret as an argument, and the hint does not repeat it: %s', async (line, message) => {
    const ended = await run(line)
    expect(ended.exit).toBe(2)
    expect(ended.message).toMatch(message)
    expect(ended.err).not.toMatch(/000000|hunter2/)
    expect(ended.hint).toMatch(/--help$/)
  })

  test.each([
    ['org update acme --not-requester=false', 'svc org update --help'],
    ['org list --all=yes', 'svc org list --help'],
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
    [
      'org get a b',
      'Too many arguments for svc org get: it takes 1, not 2; quote one that contains spaces',
      'svc org get --help',
    ],
    [
      'approve request deploy to production',
      'Too many arguments for svc approve request: it takes 1, not 3; quote one that contains spaces',
      'svc approve request --help',
    ],
    ['user list acme', 'svc user list takes no arguments, only flags', 'svc user list --help'],
    ['export decl', 'svc export takes no arguments, only flags', 'svc export --help'],
    [
      'mcp install foo',
      '<client> must be claude-code, cursor, vscode, codex or gemini, not "foo"',
      'svc mcp install --help',
    ],
    [
      'approve request x --break-glass --reason fire',
      '--break-glass requires a value: --break-glass <text>',
      'svc approve request --help',
    ],
    ['org list --limit', '--limit requires a value: --limit <n>', 'svc org list --help'],
  ])('%s', async (line, message, hint) => {
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

test.each([
  ['rule create d --type command --argv terraform destroy --who @sre', '--argv'],
  ['rule create d --type tool_call --who @sre --tool github merge_x', '--tool'],
])('%s: names the flag to repeat', async (line, flag) => {
  const { message } = await run(line)
  expect(message).toBe(
    `Too many arguments for svc rule create: repeat ${flag} before each word: ${flag} A ${flag} B`,
  )
})

test('the beginning of a flag means that flag', async () => {
  expect((await run('rule create d --arg terraform')).message).toContain('did you mean --argv?')
})

test('an example of whom to ask is not masked', async () => {
  const { message, err } = await run('approve request x --to nobody')
  expect(message).toContain('--to')
  expect(err).toContain('hint: Example: +12025550101 or @sre:2')
})

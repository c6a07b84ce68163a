import { expect, test } from 'vitest'
import { json } from '../../fake-hosted.ts'
import { folder, installHooks, run, service } from '../other-service.ts'

installHooks()

const person = (name: string, excluded: string | null = null) => ({
  user_id: '1',
  name,
  excluded,
  notified: true,
})
const line = { group: 'dba', need: 1, rules: ['destroy'], people: [person('Ada Lovelace')] }
const result = {
  rules: [{ name: 'destroy', digest: 'a'.repeat(64) }],
  excepted: [],
  lines: [line],
  completable: true,
  problem: null,
  lifetime_s: 900,
  use_within_s: 90,
  number: true,
  factors: ['location'],
  reasons: [{ rule: 'destroy', prompt: 'Incident', pattern: 'INC-*', example: 'INC-77' }],
  near_misses: ['force does not hold it: its argv is "git push".'],
  ways_around: ['A script can do the same under another name.'],
}
const nothing = { ...result, rules: [], lines: [], completable: false, problem: 'no rule holds this' }

const tested = async (args: string[], data: object = result, options = {}) => {
  service.always((request, response) =>
    json(200, {
      status: 'success',
      message: 'OK',
      data: request.path.includes('/rule-tests')
        ? data
        : request.path.endsWith('/whoami')
          ? { id: '2', name: 'ask', scopes: ['ask'] }
          : { id: 1, slug: 'acme', name: 'Acme' },
    })(request, response),
  )
  const ran = await run(['rule', 'test', '--org', 'acme', ...args], options)
  const sent = service.seen.findLast(({ path }) => path.includes('/rule-tests'))
  return { ...ran, sent: sent && JSON.parse(sent.body) }
}
const destroy = ['--', 'terraform', '-chdir=prod', 'destroy']

test('says who would be asked, on which terms, and what the rules do not hold', async () => {
  const { exit, out } = await tested(destroy, result, { tty: true })
  expect(exit).toBe(0)
  expect(out).toBe(`Rule destroy matches.

@dba: 1 of 1 must agree (destroy)
  Ada Lovelace  would be asked

\u001b[32mIt can be approved now.\u001b[39m

Time to decide  15 minutes
Time to use     90 seconds
Number          each approver types one that only the requester sees
Factors         location
Reason          Incident, must match INC-*, for example INC-77 (destroy)

Nearly matched:
- force does not hold it: its argv is "git push".

Ways around:
- A script can do the same under another name.
`)
})

test('says why a command that starts others matches', async () => {
  const { out } = await tested(['--', 'sudo', 'ls'])
  expect(out).toMatch(
    /^Rule destroy matches\.\nsudo starts other commands, so each rule for commands matches it, unless the rule has shells: ignore\.\n/,
  )
  expect((await tested(destroy)).out).not.toContain('starts other commands')
})

test('says who is not asked, and what to type if too few can answer', async () => {
  const people = [person('Ada Lovelace', 'is the requester')]
  const { exit, out } = await tested(destroy, {
    ...result,
    lines: [
      { ...line, people },
      { ...line, group: 'security' },
    ],
    completable: false,
    problem: 'Too few people can answer',
  })
  expect(exit).toBe(1)
  expect(out).toContain('  Ada Lovelace  would not be asked: is the requester\n')
  expect(out).toContain(
    'It cannot be approved now: too few people can answer.\n  svc group add dba --user ID --org acme\n\n',
  )
})

test('says who would be asked without a notification', async () => {
  const people = [{ ...person('Ada Lovelace'), notified: false }]
  const { out } = await tested(destroy, { ...result, lines: [{ ...line, people }] })
  expect(out).toContain('  Ada Lovelace  would be asked, but not notified: over a limit, or muted the key\n')
})

test('says who is away, until when, and who is notified all the same', async () => {
  const away = { away_until: '2030-02-14T00:00:00.000Z', notified: false }
  const people = [
    { ...person('Ada Lovelace'), ...away },
    { ...person('Grace Hopper'), ...away, notified: true },
  ]
  const { exit, out } = await tested(destroy, { ...result, lines: [{ ...line, people }] })
  expect(exit).toBe(0)
  expect(out).toContain('  Ada Lovelace  away until 2030-02-14T00:00:00Z: not notified, but can answer\n')
  expect(out).toContain(
    '  Grace Hopper  would be asked although away until 2030-02-14T00:00:00Z: the others are',
  )
})

test('says why the service would refuse a request whose lines are complete', async () => {
  const { exit, out } = await tested(destroy, {
    ...result,
    completable: false,
    problem: 'Ada has muted this key',
  })
  expect(exit).toBe(1)
  expect(out).toContain('It cannot be approved now: Ada has muted this key.\n')
})

test('says that no rule matches', async () => {
  const { exit, out } = await tested(destroy, nothing)
  expect(exit).toBe(0)
  expect(out).toContain(
    'No rule matches. The requester says who must approve:\n  svc approve run --to @GROUP -- terraform -chdir=prod destroy\n',
  )
  expect((await tested(['--request', 'user delete'], nothing)).out).toContain(
    'No rule matches: svc user delete in acme waits for no approval.\n',
  )
  expect((await tested(['--request', 'key confirm-owner'], nothing)).out).toContain(
    'No rule matches. Without a rule, the owner of the key confirms it on their own phone.\n',
  )
  expect((await tested(['--request', 'rule delete'], nothing)).out).toContain(
    'No rule matches. Without a rule, a change of rules or groups asks an administrator and whom it weakens.\n',
  )
})

test('names the rules that an exception keeps from matching', async () => {
  const said = 'Excepted by rule restore: it would match, but one of its exceptions does.\n'
  const { out } = await tested(destroy, { ...nothing, excepted: ['restore'] })
  expect(out).toContain(`No rule matches. The requester says who must approve:\n`)
  expect(out).toContain(`\n\n${said}`)
  expect((await tested(destroy, { ...result, excepted: ['restore'] })).out).toContain(
    `Rule destroy matches.\n\n${said}`,
  )
})

test('prints the data in another format', async () => {
  const { exit, data } = await tested(['-o', 'json', ...destroy], { ...result, completable: false })
  expect(exit).toBe(1)
  expect(data()).toEqual({ ...result, completable: false })
})

test.each([
  [destroy, { type: 'command', argv: ['terraform', '-chdir=prod', 'destroy'] }],
  [['--request', 'svc user  delete'], { type: 'request', operation: 'user delete' }],
  [['--file', 'prod.tfplan'], { type: 'file', file: 'prod.tfplan' }],
  [
    ['--tool', 'github', 'merge', '--argument', 'branch=main', '--argument', 'note=a=b', '--argument', 'n=5'],
    { type: 'tool_call', server: 'github', tool: 'merge', arguments: { branch: 'main', note: 'a=b', n: 5 } },
  ],
  [['--text', 'Deploy', '--key', '7'], { type: 'text', text: 'Deploy', key: '7' }],
])('sends what was typed: %j', async (args, body) => {
  expect((await tested(args)).sent).toEqual(body.type === 'command' ? { ...body, cwd: folder.path } : body)
})

test('tests for the key that would ask', async () => {
  const options = { env: { SVC_ASK_KEY: 'ask' } }
  expect((await tested(destroy, result, options)).sent.key).toBe('2')
  expect((await tested(['--key', '7', ...destroy], result, options)).sent.key).toBe('7')
  expect((await tested(['--request', 'user delete'], result, options)).sent.key).toBeUndefined()
  expect((await tested(destroy)).sent.key).toBeUndefined()
})

test('tests a command in another folder', async () => {
  expect((await tested(['--cwd', '/srv/prod', ...destroy])).sent.cwd).toBe('/srv/prod')
})

test.each([
  [[], 'Nothing to test: name a command after --, or use --request, --file, --tool or --text'],
  [['--file', 'x', ...destroy], 'a command and --file cannot be combined'],
  [['--tool', 'github'], '--tool must be a server and a tool'],
  [['--file', 'x', '--argument', 'a=b'], '--argument belongs to --tool'],
  [['--file', 'x', '--cwd', '/'], '--cwd belongs to a command after --'],
  [['--tool', 'a', 'b', '--argument', 'x'], '--argument must be name=value, not "x"'],
  [
    ['--request', 'user delte'],
    '--request must be a command of svc that makes one change, not "user delte"; did you mean "user delete"?',
  ],
  [
    ['--request', 'user import'],
    '--request must be a command of svc that makes one change, not "user import"; svc user import and svc apply make many',
  ],
  [['--request', 'user list'], '--request: no rule can hold svc user list'],
])('refuses %j before anything is sent', async (args, message) => {
  const { exit, message: said, sent } = await tested(args)
  expect([exit, said, sent]).toEqual([2, message, undefined])
})

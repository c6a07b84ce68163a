import { describe, expect, test } from 'vitest'
import { json } from '../../fake-hosted.ts'
import { installHooks, run, service } from '../other-service.ts'

installHooks()

const destroy = {
  name: 'destroy',
  match: { type: 'command', argv: ['terraform', '**', 'destroy', '**'], cwd: ['/srv/prod/**'] },
  except: [{ cwd: ['/srv/sandbox/**'] }],
  who: ['@dba', '@security:2'],
  break_glass: '@oncall',
  digest: 'a'.repeat(64),
}

const answered = (data: unknown, args: string[], options = {}) => {
  service.always(json(200, { status: 'success', message: 'Rules', data }))
  return run(['rule', ...args, '--org', '1'], options)
}

const list = (args: string[], options = {}) => answered([destroy], ['list', ...args], options)

test('a list says in words what a rule holds', async () => {
  const { out } = await list([], { tty: true, columns: 120 })
  expect(out).toMatch(/^.*NAME {5}MATCH {36}.*EXCEPT {14}.*WHO/)
  expect(out).toContain(
    'destroy  terraform ** destroy ** in /srv/prod/**  in /srv/sandbox/**  @dba, @security:2  @oncall\n',
  )
})

test.each([
  ['get', ['get', 'destroy']],
  ['create', ['create', 'all', '--type', 'command', '--who', '@sre', '--yes']],
])('%s says in words that a rule without fields holds everything of its type', async (_, args) => {
  const rule = { ...destroy, match: { type: 'command' }, org_id: 1, created_at: '2030-01-01T00:00:00.000Z' }
  const { out } = await answered(rule, args, { tty: true })
  expect(out).toMatch(/match\S* +every command\n.*except\S* +in \/srv\/sandbox\/\*\*/)
})

test('create warns that nobody could break the glass now', async () => {
  const rule = { ...destroy, org_id: 1, created_at: '2030-01-01T00:00:00.000Z', unheard: ['Bob\u001b[2J'] }
  const { err } = await answered(rule, ['create', 'all', '--type', 'command', '--who', '@sre', '--yes'])
  expect(err).toContain('Warning: --break-glass would be refused now: svc can tell Bob\\u{001b}[2J neither')
})

test('a list has the data of a rule in every other format', async () => {
  expect((await list(['-o', 'json'])).data()).toEqual([destroy])
})

const plan = (...args: string[]) =>
  run(['rule', 'create', 'x', '--org', '1', '--who', '@sre', ...args, '--dry-run', '--yes'], { tty: true })

describe('a dry run', () => {
  test('checks a new rule by itself, and says what it has not checked', async () => {
    const { exit, err } = await plan('--type', 'command', '--argv', 'terraform')
    expect([exit, err]).toEqual([
      0,
      expect.stringContaining(
        'Nothing was sent.\nThe rule by itself is valid. Groups, keys and other rules were not checked.\n',
      ),
    ])
    expect(err).toMatch(/^Warning: x holds "terraform" and nothing with a word behind it/m)
    expect(service.seen).toEqual([])
  })

  test.each([
    [['--type', 'text', '--grant-max', '60'], '--grant-max or --grant-uses is only possible for a command'],
    [['--type', 'command', '--tool', 'merge'], '--tool is not known in a command: it has argv, cwd'],
    [['--type', 'text', '--who', 'nobody'], '--who must be '],
    [['--type', 'text', '--who', '@sre'], '--who '],
    [['--type', 'tool_call', '--arguments', '{"a":"x"}'], '--arguments.a must be a list, such as ["main"]'],
    [['--type', 'text', '--reason-prompt', 'Why', '--reason-example', 'x'], '--reason-pattern is required'],
    [['--type', 'text', '--except', '[{}]'], '--except[0] is an exception for everything'],
  ])('refuses a rule that the service would refuse: %j', async (args, message) => {
    expect(await plan(...args)).toMatchObject({ exit: 2, err: expect.stringContaining(message), out: '' })
  })

  test('looks for the rule that would be deleted', async () => {
    const { exit, err } = await answered(destroy, ['delete', 'destroy', '--dry-run'], { tty: true })
    expect([exit, err]).toEqual([0, expect.stringContaining('The rule exists.')])
    expect(service.seen.map(({ method }) => method)).toEqual(['GET'])
    service.always(json(404, { status: 'error', message: 'Rule x not found', data: { code: 'not_found' } }))
    expect(await run(['rule', 'delete', 'x', '--org', '1', '--dry-run'])).toMatchObject({ exit: 5, out: '' })
  })
})

const made = { ...destroy, org_id: 1, created_at: '2030-01-01T00:00:00.000Z' }
const create = (args: string[], options = {}) =>
  answered(made, ['create', 'destroy', '--who', '@dba', ...args], options)

describe('a rule without a pattern', () => {
  test.each([[['--type', 'text']], [['--type', 'command', '--shells', 'ignore']]])(
    'requires --yes where nobody can be asked: %j',
    async (args) => {
      const { exit, err } = await create(args)
      expect([exit, err]).toEqual([2, expect.stringContaining('confirm that with --yes')])
      expect(service.seen).toEqual([])
      expect((await create([...args, '--yes'])).exit).toBe(0)
    },
  )

  test('is refused for what is wrong with it before anybody confirms it', async () => {
    const { exit, err } = await create(['--type', 'text', '--who', 'sre'])
    expect([exit, err]).toEqual([2, expect.stringContaining('--who must be ')])
  })

  test('is not what a rule with a pattern for everything is', async () => {
    expect((await create(['--type', 'text', '--text', '*'])).exit).toBe(0)
  })
})

test.each([
  ['command', { argv: ['terraform', '-chdir=sandbox/*', 'plan'] }, '-chdir=sandbox/*'],
  ['command', { cwd: ['/srv/*/sandbox'] }, '*'],
  ['tool_call', { arguments: { path: ['sandbox/*'] } }, 'sandbox/*'],
  ['command', { argv: ['terraform', 'plan', '**'], cwd: ['/srv/sandbox/**'] }, undefined],
])('a %s with the exception %j is created with a warning about %s', async (type, except, word) => {
  const args = ['--type', type, type === 'command' ? '--argv' : '--tool', 'terraform']
  const { exit, err } = await create([...args, '--except', JSON.stringify([except])])
  expect(exit).toBe(0)
  expect(
    /^Warning: An exception of destroy has \* in "(.*)", which also matches \.\., .*$/m.exec(err)?.[1],
  ).toBe(word)
})

test.each([
  '{"argv":["x"]}',
  '[{"argv":5}]',
  '[{"cwd":"/srv/sandbox"}]',
  '[null]',
  '[{"arguments":{"a":1}}]',
])('the service says what is wrong with the exception %s', async (except) => {
  const refused = { code: 'invalid_field', issues: [{ field: 'except', message: 'must be a list' }] }
  service.always(json(422, { status: 'error', message: 'except must be a list', data: refused }))
  const args = ['rule', 'create', 'x', '--type', 'command', '--argv', 'deploy', '--who', '@dba', '--org', '1']
  const { exit, err } = await run([...args, '--except', except])
  expect([exit, err]).toEqual([2, expect.stringContaining('--except must be a list')])
})

test.each([
  ['command', [{ cwd: ['/srv/sandbox/**'] }], true],
  ['command', [{ argv: ['terraform', 'plan'], cwd: ['/srv/sandbox/**'] }], false],
  ['tool_call', [{ server: ['test'] }], false],
])('of a %s with the exceptions %j, it warns of a folder alone: %s', async (type, except, warned) => {
  const args = ['--type', type, type === 'command' ? '--argv' : '--tool', 'terraform']
  const { exit, err } = await create([...args, '--except', JSON.stringify(except)])
  expect([exit, err.includes('An exception for a folder alone (destroy)')]).toEqual([0, warned])
})

test('each field of a rule has a flag', async () => {
  const typed =
    '--type tool_call --server github --tool merge_* --arguments {"branch":["main"]} --key 7 ' +
    '--except [{"tool":["merge_try"]}] --who @sre:2 --who @dba --requester confirmed --reason-prompt Ticket ' +
    '--reason-pattern OPS-* --reason-example OPS-1 --timeout 900 --use-within 60 --factors location --number'
  const shells = 'rule create x --org 1 --type command --shells ignore --who @sre --dry-run -o json'
  expect((await run(shells)).data().body.match).toEqual({ type: 'command', shells: 'ignore' })
  const line = ['rule', 'create', 'agents', '--org', '1', ...typed.split(' '), '--dry-run', '-o', 'json']
  const { exit, data } = await run(line)
  expect(exit).toBe(0)
  expect(data().body).toEqual({
    name: 'agents',
    match: {
      type: 'tool_call',
      server: ['github'],
      tool: ['merge_*'],
      arguments: { branch: ['main'] },
      // Its name looks like a secret, which a dry run never prints.
      key: '***',
    },
    except: [{ tool: ['merge_try'] }],
    who: ['@sre:2', '@dba'],
    requester: 'confirmed',
    reason: { prompt: 'Ticket', pattern: 'OPS-*', example: 'OPS-1' },
    lifetime_s: 900,
    use_within_s: 60,
    factors: ['location'],
    number: true,
  })
})

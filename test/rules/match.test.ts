import { describe, expect, test } from 'vitest'
import type { Rule } from '../../src/contract/rule-shape.ts'
import { type Facts, matcherOf } from '../../src/rules/match.ts'

type Shape = Pick<Rule, 'match' | 'except'>

const command = (
  line: string,
  { cwd = '/srv/prod/app', executable = '', hasVariables = false } = {},
): Facts => {
  const argv = line.split(' ')
  return { type: 'command', argv, cwd, executable: executable || `/usr/bin/${argv[0]}`, hasVariables }
}
const held = (match: Rule['match'], facts: Facts, except?: Rule['except'], keys?: string[]): boolean =>
  matcherOf(facts)({ match, ...(except && { except }) } as Shape, keys)

const call = (tool: string, value: Record<string, unknown>): Facts => ({
  type: 'tool_call',
  server: 'github',
  tool,
  arguments: value,
})
const merge = (value: Record<string, unknown>): Facts => call('merge', value)

describe('an exception', () => {
  const sandbox: Rule['match'] = { type: 'command', argv: ['terraform', '**'] }
  const except = [{ argv: ['terraform', '**'], cwd: ['/srv/**'] }]

  test('is not for a command with variables of its own', () => {
    expect(held(sandbox, command('terraform destroy'), except)).toBe(false)
    expect(held(sandbox, command('terraform destroy', { hasVariables: true }), except)).toBe(true)
  })

  test.each([['*'], ['**'], ['s*']])('for %j does not name a shell', (first) => {
    expect(held(sandbox, command('sh -c x --help'), [{ argv: [first, '**', '--help'] }])).toBe(true)
    expect(held(sandbox, command('sh -c x --help'), [{ argv: ['sh', '**', '--help'] }])).toBe(false)
  })
})

test.each([
  ['*ΕΛΕΓΧΟΣ*', 'ΝΕΟΣ ΕΛΕΓΧΟΣΑ'],
  ['λογος.txt', 'ΛΟΓΟΣ.TXT'],
  ['ΑΣ*', 'αστρο'],
  ['Maße*', 'MASSE 3'],
  ['ﬁle', 'FILE'],
])('a rule for %s holds %s, however their letters are written', (text, asked) => {
  expect(held({ type: 'text', text: [text] }, { type: 'text', text: asked })).toBe(true)
})

describe('a rule about a command', () => {
  const deploy: Rule['match'] = { type: 'command', argv: ['d\u00e9pl\u00f3y.sh', '**', 'Stra*e'] }

  test.each([
    ['composed otherwise', 'de\u0301plo\u0301y.sh stra\u00dfe'],
    ['in another case', 'D\u00c9PL\u00d3Y.SH STRASE'],
    ['with a compatible letter', 'd\u00e9pl\u00f3y.\u017fh stra\u00dfe'],
    ['behind folders of Windows', 'C:\\\\x\\\\d\u00e9pl\u00f3y.sh stra\u00dfe'],
  ])('holds one that is typed %s, and an exception does not', (_, line) => {
    expect(held(deploy, command(line))).toBe(true)
    expect(held(deploy, command(line), [{ argv: deploy.argv! }])).toBe(true)
  })

  const destroy: Rule['match'] = { type: 'command', argv: ['terraform', '**', 'destroy', '**'] }
  test.each([
    ['terraform destroy', true],
    ['terraform destroy -auto-approve', true],
    ['terraform -chdir=x destroy', true],
    ['/opt/bin/terraform destroy', true],
    ['terraform.exe destroy', true],
    ['C:\\bin\\Terraform.EXE destroy', true],
    ['terraform plan', false],
    ['terraform destroyed', false],
    ['TerraForm Destroy', true],
    ['tofu destroy', false],
  ])('with words around ** holds %j: %j', (line, is) => {
    expect(held(destroy, command(line))).toBe(is)
  })

  test('compares each word as a whole, in order', () => {
    const match: Rule['match'] = { type: 'command', argv: ['git', 'push', '--f*'] }
    expect(held(match, command('git push --force'))).toBe(true)
    expect(held(match, command('git push origin --force'))).toBe(false)
    expect(held(match, command('git push'))).toBe(false)
  })

  test('holds a program under another name if it is the one that runs', () => {
    expect(held(destroy, command('tf destroy', { executable: '/usr/bin/terraform' }))).toBe(true)
  })

  test.each([
    'sh -c x',
    'bash deploy.sh',
    '/bin/bash5.2 -c x',
    'env terraform destroy',
    'sudo ls',
    'sudo-rs ls',
    './bash-static -c x',
    'x86_64 ls',
    'i386 ls',
    'gdb ls',
    'xargs rm',
    'ssh host ls',
    'toybox sh',
    '-sh -c x',
    'osh -c x',
    'please ls',
    'systemd-run ls',
    'C:\\Windows\\System32\\cmd.exe /c x',
    '/lib64/ld-linux-x86-64.so.2 /bin/ls',
  ])('holds %j, which starts others, unless it ignores shells', (line) => {
    expect(held(destroy, command(line))).toBe(true)
    expect(held({ ...destroy, shells: 'ignore' }, command(line))).toBe(false)
  })

  test('does not take a program for a shell because one file has many programs', () => {
    expect(held(destroy, command('ls', { executable: '/bin/busybox' }))).toBe(false)
    expect(held(destroy, command('sh -c x', { executable: '/bin/busybox' }))).toBe(true)
    expect(held(destroy, command('./b -c x', { executable: '/usr/bin/bash' }))).toBe(true)
  })

  test('holds a shell in another folder too, because it can change its folder', () => {
    const match: Rule['match'] = { type: 'command', cwd: ['/srv/prod/**'] }
    expect(held(match, command('bash x', { cwd: '/home/ada' }))).toBe(true)
    expect(held(match, command('ls', { cwd: '/home/ada' }))).toBe(false)
  })

  test.each([
    ['/srv/prod', true],
    ['/srv/prod/', true],
    ['/srv/prod/a/b', true],
    ['/srv/other/../prod/a', true],
    ['/srv/prod/../other', false],
    ['/srv/production', false],
  ])('of a folder holds %j: %j', (cwd, is) => {
    expect(held({ type: 'command', cwd: ['/srv/prod/**'] }, command('ls', { cwd }))).toBe(is)
  })

  test('stays quick with the longest pattern against the longest command', () => {
    const argv = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? '**' : 'a*a*a*b'))
    const facts = command(Array.from({ length: 2000 }, () => 'a'.repeat(14)).join(' '))
    const started = performance.now()
    expect(held({ type: 'command', argv, shells: 'ignore' }, facts)).toBe(false)
    expect(performance.now() - started).toBeLessThan(1000)
  })
})

describe('an exception', () => {
  const all: Rule['match'] = { type: 'command' }
  test('needs all of its fields', () => {
    const except = [{ argv: ['ls', '**'], cwd: ['/srv/prod/sandbox/**'] }]
    expect(held(all, command('ls -l', { cwd: '/srv/prod/sandbox' }), except)).toBe(false)
    expect(held(all, command('ls -l'), except)).toBe(true)
    expect(held(all, command('rm -l', { cwd: '/srv/prod/sandbox' }), except)).toBe(true)
  })

  test('for a program does not hold for another program under its name', () => {
    const except = [{ argv: ['ls', '**'] }]
    expect(held(all, command('ls', { executable: '/tmp/terraform' }), except)).toBe(true)
    expect(held(all, command('terraform', { executable: '/bin/ls' }), except)).toBe(true)
  })

  test('is not reached through a parent folder', () => {
    const except = [{ cwd: ['/srv/prod/sandbox/**'] }]
    expect(held(all, command('ls', { cwd: '/srv/prod/sandbox/../live' }), except)).toBe(true)
  })

  test('for a folder does not hold for a shell, which can change it; one for the shell does', () => {
    const shell = command('bash -c x', { cwd: '/srv/prod/sandbox' })
    expect(held(all, shell, [{ cwd: ['/srv/prod/sandbox/**'] }])).toBe(true)
    expect(held(all, shell, [{ argv: ['bash', '**'], cwd: ['/srv/prod/sandbox/**'] }])).toBe(false)
    expect(held({ ...all, shells: 'ignore' }, shell, [{ cwd: ['/srv/prod/sandbox/**'] }])).toBe(false)
  })

  test('holds only in the case in which it is written', () => {
    const except = [{ argv: ['ls', '**'] }]
    expect(held(all, command('LS'), except)).toBe(true)
    expect(held(all, command('ls', { executable: '/tmp/Ls' }), except)).toBe(true)
  })

  test('for an argument needs the argument, as text', () => {
    const match: Rule['match'] = { type: 'tool_call', server: ['github'] }
    const except = [{ arguments: { branch: ['dev*'] } }]
    expect(held(match, merge({ branch: 'dev' }), except)).toBe(false)
    expect(held(match, merge({}), except)).toBe(true)
    expect(held(match, merge({ branch: ['dev'] }), except)).toBe(true)
    expect(held(match, merge({ branch: 'dev', Branch: 'main' }), except)).toBe(true)
  })
})

describe('a rule about a tool call', () => {
  const match: Rule['match'] = { type: 'tool_call', tool: ['merge_*'], arguments: { branch: ['main'] } }
  test.each([
    ['merge_pull_request', { branch: 'main' }, true],
    ['merge_pull_request', { branch: 'dev' }, false],
    ['merge_pull_request', {}, true],
    ['merge_pull_request', { branch: 7 }, true],
    ['merge_pull_request', { branch: { name: 'dev' } }, true],
    ['merge_pull_request', { branch: 'dev', Branch: 'main' }, true],
    ['merge_pull_request', { Branch: 'dev' }, true],
    ['read', { branch: 'main' }, false],
  ])('holds %s %j: %j', (tool, value, is) => {
    expect(held(match, call(tool, value))).toBe(is)
  })

  test('does not take an argument from the prototype', () => {
    const odd: Rule['match'] = { type: 'tool_call', arguments: { toString: ['x'] } }
    expect(held(odd, call('read', {}))).toBe(true)
  })
})

describe('a rule about calls of svc', () => {
  test.each([
    ['user', 'user delete', true],
    ['user delete', 'user delete', true],
    ['user delete', 'user', false],
    ['user', 'users list', false],
  ])('for %j holds %j: %j', (listed, operation, is) => {
    expect(held({ type: 'request', operation: [listed] }, { type: 'request', operation })).toBe(is)
  })
})

describe('a rule for keys', () => {
  const match: Rule['match'] = { type: 'text', key: ['7'] }
  const facts: Facts = { type: 'text', text: 'Deploy' }
  test('holds the key and what it created', () => {
    expect(held(match, facts, undefined, ['7'])).toBe(true)
    expect(held(match, facts, undefined, ['9', '7', '1'])).toBe(true)
    expect(held(match, facts, undefined, ['8'])).toBe(false)
    expect(held(match, facts, undefined, [])).toBe(false)
  })
  test('holds a key whose creators are not known', () => {
    expect(held(match, facts)).toBe(true)
  })
})

test('a rule holds only subjects of its type', () => {
  expect(held({ type: 'file' }, { type: 'text', text: 'x' })).toBe(false)
  expect(held({ type: 'file', file: ['*.tfplan'] }, { type: 'file', file: 'prod.tfplan' })).toBe(true)
})

test('of a request that is too long for all patterns, the rules that are left hold it, and no exception does', () => {
  const holds = matcherOf({ type: 'file', file: 'a'.repeat(32_000) })
  const other = { match: { type: 'file', file: Array.from({ length: 20 }, (_, n) => `*b${n}`) } } as Shape
  const excepted = { match: { type: 'file' }, except: [{ file: ['a*'] }] } as Shape
  expect([holds(other, []), holds(excepted, [])]).toEqual([false, false])
  for (let n = 0; n < 10; n++) holds(other, [])
  expect([holds(other, []), holds(excepted, [])]).toEqual([true, true])
})

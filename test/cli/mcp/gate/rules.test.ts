import { describe, expect, test } from 'vitest'
import { readRules, ruleFor } from '../../../../src/cli/mcp/gate/rules.ts'
import { matches } from '../../../../src/core/wildcard.ts'
import type { SvcError } from '../../../../src/core/errors.ts'

const head = 'server: files\nto: "+12025550101"\n'
const rules = readRules(
  `${head}timeout: 30
rules:
  - tools: [read_*, list_a]
    action: pass
  - tools: write_file
    when: { path: ["/tmp/*", /var/x], dry_run: true }
    action: pass
  - tools: drop_*
    action: hold
    to: "+1 202 555 0102"
    timeout: 600
    factors: [biometric, location]
`,
  'gate.yaml',
)
const decide = (name: string, given: Record<string, unknown> = {}) => {
  const { action, approval } = ruleFor(rules, { name, arguments: given, parameters: undefined })
  return action === 'pass' ? 'pass' : approval
}
const write = (given: Record<string, unknown>) => decide('write_file', given)
const top = { to: ['+12025550101'], timeout: 30, factors: undefined }

describe('the rules of a gate', () => {
  test('are applied from the first to the last, and hold what none of them names', () => {
    expect([decide('read_x'), decide('list_a')]).toEqual(['pass', 'pass'])
    expect([decide('list_ab'), decide('READ_x'), decide('xread_x')]).toEqual([top, top, top])
    expect(decide('drop_table')).toEqual({
      to: ['+12025550102'],
      timeout: 600,
      factors: ['biometric', 'location'],
    })
  })

  test('let a call pass by its arguments only if a server cannot read them differently', () => {
    expect(write({ path: '/tmp/a', dry_run: true })).toBe('pass')
    expect(write({ path: '/var/x', dry_run: true, text: 'x' })).toBe('pass')
    for (const given of [
      { path: '/tmp/a' },
      { path: '/tmp/a', dry_run: 'true' },
      { path: '/tmp/../etc/passwd', dry_run: true },
      { path: '/tmp/a\\..\\b', dry_run: true },
      { path: '/tmp/%2e%2e/b', dry_run: true },
      { path: '/tmp/.\t./etc/passwd', dry_run: true },
      { path: '/tmp/..;/etc/passwd', dry_run: true },
      { path: ['/tmp/a'], dry_run: true },
      { path: '/tmp/a', Path: '/etc/passwd', dry_run: true },
      { Path: '/tmp/a', dry_run: true },
      { path: '/etc/tmp/a', dry_run: true },
    ])
      expect([given, write(given)]).toEqual([given, top])
  })

  test.each([
    ['', 'gate.yaml is empty'],
    [`${head}defualt: pass`, 'gate.yaml:3:1 defualt', 'did you mean default?'],
    ['default: hold\n', 'gate.yaml:1:1 server', 'is missing'],
    [
      `${head}rules:\n  - tools: a\n    action: ask\n`,
      'gate.yaml:5:5 rules[0].action',
      'must be hold or pass',
    ],
    [`${head}rules:\n  - tools: a b\n    action: hold\n`, 'gate.yaml:4:5 rules[0].tools', 'name of a tool'],
    [`${head}rules:\n  - tools: "{a,b}"\n    action: hold\n`, 'rules[0].tools', 'write a list instead'],
    [
      `${head}rules:\n  - tools: a\n    action: hold\n    when: {x: 1}\n`,
      'gate.yaml:6:5 rules[0].when',
      'only for pass',
    ],
    [
      `${head}rules:\n  - {tools: "*", action: pass}\n  - {tools: a, action: hold}\n`,
      'gate.yaml:5:5 rules[1]',
      'is never reached, because rules[0] matches every tool',
    ],
    ['server: files\nto: "12"\n', 'gate.yaml:2:1 to', 'such as +12025550101'],
    [`${head}timeout: 0`, 'gate.yaml:3:1 timeout', 'must be 1 or more'],
    [`${head}factors: [face]`, 'gate.yaml:3:11 factors[0]', 'must be biometric'],
    [`${head}to: "+12025550102"`, 'gate.yaml:3:1', 'has a duplicate key "to"'],
    [`${head}\trules: []`, 'gate.yaml:3', 'requires spaces'],
    [`${head}---\nserver: b\n`, 'gate.yaml:3', 'a file has the rules for one server'],
  ])('are refused with the place and what to write: %j', (text, ...parts) => {
    let error: SvcError | undefined
    try {
      readRules(text, 'gate.yaml')
    } catch (thrown) {
      error = thrown as SvcError
    }
    const shown = [
      error?.message,
      ...(error?.issues ?? []).map(({ field, message }) => `${field} ${message}`),
    ].join('\n')
    for (const part of parts) expect(shown).toContain(part)
    expect(error?.exit).toBe('usage')
  })
})

test.each([
  ['*', '', true],
  ['a*b*c', 'aXbbYc', true],
  ['a*b', 'abc', false],
  ['a?c', 'abc', false],
  ['a*ba', 'aba', true],
  ['ab*ba', 'aba', false],
  ['*ab*ab', 'ab', false],
  ['*', 'a', true],
  ['***a', 'bba', true],
  ['a.c', 'abc', false],
])('the pattern %j matches %j: %s', (pattern, text, matched) => {
  expect(matches(pattern, text)).toBe(matched)
})

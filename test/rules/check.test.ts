import { describe, expect, test } from 'vitest'
import { type Rule, ruleShape } from '../../src/contract/rule-shape.ts'
import { table } from '../../src/contract/table.ts'
import { isHoldable, ruleProblems } from '../../src/rules/check.ts'
import { termsOf, unmetReason } from '../../src/rules/terms.ts'

const rule = (parts: object = {}): Rule =>
  ruleShape.parse({
    name: 'destroy',
    match: { type: 'command', argv: ['rm', '**'] },
    who: ['@sre'],
    ...parts,
  })

describe('a rule by itself', () => {
  test('is accepted', () => {
    expect(ruleProblems(rule())).toEqual([])
  })

  test.each([
    [{ match: { type: 'command', tool: ['x'] } }, 'match.tool', /is not known in a command/],
    [{ match: { type: 'file', shells: 'ignore' } }, 'match.shells', /is not known in a file/],
    [{ match: { type: 'command', argv: ['/bin/rm'] } }, 'match.argv[0]', /without its folder/],
    [{ match: { type: 'command', cwd: ['srv/**'] } }, 'match.cwd[0]', /absolute/],
    [
      { match: { type: 'request', operation: ['user', 'geofense'] } },
      'match.operation[1]',
      /did you mean "geofence"/,
    ],
    [
      { match: { type: 'request', operation: ['user list'] } },
      'match.operation[0]',
      /^cannot be "user list": it changes nothing$/,
    ],
    [
      { match: { type: 'request', operation: ['key revoke'] } },
      'match.operation[0]',
      /^cannot be "key revoke": a reaction to an incident never waits for an approval$/,
    ],
    [
      { match: { type: 'request', operation: ['org create'] } },
      'match.operation[0]',
      /^cannot be "org create": the organization that it makes has no rules yet$/,
    ],
    [{ match: { type: 'request', operation: ['approve submit'] } }, 'match.operation[0]', /asks .* itself/],
    [{ match: { type: 'request', operation: ['apply'] } }, 'match.operation[0]', /holds what it does/],
    [
      { match: { type: 'request', operation: ['svc user delete'] } },
      'match.operation[0]',
      /"user delete"\?$/,
    ],
    [{ except: [{ cwd: ['/a'] }, {}] }, 'except[1]', /is an exception for everything/],
    [{ except: [{ argv: ['**'] }] }, 'except[0]', /is an exception for everything/],
    [{ except: [{ argv: ['**', '*'], cwd: ['/a', '/**'] }] }, 'except[0]', /is an exception for everything/],
    [{ match: { type: 'file' }, except: [{ file: ['a', '*'] }] }, 'except[0]', /for everything/],
    [{ match: { type: 'tool_call' }, except: [{ arguments: {} }] }, 'except[0]', /for everything/],
    [
      { match: { type: 'tool_call', tool: ['get', 'merge_*,delete_*'] } },
      'match.tool[1]',
      /one tool, not "merge_\*,delete_\*"; several: --tool A --tool B/,
    ],
    [
      { match: { type: 'command', argv: ['deploy.sh,prod'] } },
      'match.argv[0]',
      /one word, not "deploy.sh,prod"/,
    ],
    [
      { match: { type: 'command', argv: ['rm -rf /srv/backups/**'] } },
      'match.argv[0]',
      /one word, not "rm -rf \/srv\/backups\/\*\*"; several: --argv A --argv B/,
    ],
    [{ match: { type: 'text', text: ['x', '^Deploy'] } }, 'match.text[1]', /regular expression.*"\^Deploy"/],
    [{ match: { type: 'tool_call', tool: ['(merge|push)_.*'] } }, 'match.tool[0]', /only \* is special/],
    [
      { match: { type: 'tool_call', arguments: { branch: ['release-\\d+'] } } },
      'match.arguments.branch[0]',
      /regular expression/,
    ],
    [{ except: [{ argv: ['rm', 'tmp.*$'] }] }, 'except[0].argv[1]', /regular expression/],
    [{ except: [{ text: ['x'] }] }, 'except[0].text', /is not known in a command/],
    [{ who: ['@sre', '@sre:2'] }, 'who', /only once/],
    [
      { factors: Array.from({ length: 400 }, () => 'location') },
      'match',
      /too large: .* 4\d\d values, at most/,
    ],
    [{ reason: { pattern: 'INC-*' } }, 'reason.example', /is required/],
    [{ reason: { example: 'INC-7' } }, 'reason.pattern', /is required with an example/],
    [{ reason: { pattern: 'INC-*', example: 'CHG-7' } }, 'reason.example', /does not match/],
    [
      { reason: { pattern: 'OPS-[0-9]+', example: 'OPS-12' } },
      'reason.example',
      /does not match the pattern OPS-\[0-9\]\+, in which only \* is special: "OPS-12"/,
    ],
  ])('with %j is refused at %s', (parts, field, message) => {
    expect(ruleProblems(rule(parts))).toMatchObject([
      { field, message: expect.stringMatching(message) as string },
    ])
  })

  test('has all of its mistakes named', () => {
    const parts = { match: { type: 'command', argv: ['/rm'], cwd: ['a', 'b'] }, reason: { example: 'x' } }
    expect(
      ruleProblems(rule({ ...parts, except: [{}], who: ['@a', '@a'] })).map(({ field }) => field),
    ).toEqual(['match.argv[0]', 'match.cwd[0]', 'match.cwd[1]', 'except[0]', 'who', 'reason.pattern'])
  })

  test.each([
    [{ except: [{ argv: ['*'] }, { argv: ['**', 'x'] }, { argv: ['**'], cwd: ['/a/**', '/*'] }] }],
    [{ match: { type: 'tool_call' }, except: [{ arguments: { branch: ['*'] } }] }],
    [{ match: { type: 'command', argv: ['psql', '--csv', 'a,b'] } }],
    [{ match: { type: 'file', file: ['*.prod.*', 'a|b', 'cost$', '(old)'] } }],
    [{ reason: { prompt: 'Ticket' } }],
  ])('with %j is accepted', (parts) => {
    expect(ruleProblems(rule(parts))).toEqual([])
  })

  test('of several groups in one line, and of a number for break-glass, names the form', () => {
    const { error } = ruleShape.safeParse({ ...rule(), who: ['@dba:2,@sre'], break_glass: '@sre:2' })
    expect(error?.issues.map(({ message }) => message)).toEqual([
      'must be one group, not "@dba:2,@sre"; several: --who @dba:2 --who @sre',
      'must be a group without a number, such as @oncall: one member signs',
    ])
  })

  test.each(['database', '+12025550101', '@sre:21'])('refuses %s as a group, and names it', (line) => {
    const { error } = ruleShape.safeParse({ ...rule(), who: ['@sre', line] })
    expect(error?.issues.map(({ path, message }) => [path, message])).toEqual([
      [['who', 1], `must be a group such as @sre or @sre:2, not "${line}"`],
    ])
  })

  test.each([
    [{ who: [] }],
    [{ match: { type: 'command', argv: [] } }],
    [{ match: { type: 'command', key: [] } }],
    [{ lifetime_s: 119 }],
    [{ lifetime_s: 86_401 }],
    [{ use_within_s: 59 }],
    [{ name: 'Destroy' }],
    [{ unknown: 1 }],
  ])('has no valid form with %j', (parts) => {
    expect(ruleShape.safeParse({ ...rule(), ...parts }).success).toBe(false)
  })
})

test('every write of a key can be held, but for requests, decisions, reactions and new organizations', () => {
  const ids = Object.keys(table) as (keyof typeof table)[]
  const held = ids.filter(isHoldable)
  expect(held).toEqual(
    expect.arrayContaining(['deleteUser', 'createRule', 'setRules', 'addGroupMember', 'createKey']),
  )
  for (const id of [
    'revokeKey',
    'revokeDevice',
    'refuseDevice',
    'createOrganization',
    'onboardOrganization',
    'createApproval',
    'consumeApproval',
    'listUsers',
  ] as const)
    expect(held).not.toContain(id)
})

describe('the terms of several rules', () => {
  test('are the strictest of all', () => {
    const terms = termsOf([
      rule({ lifetime_s: 900, factors: ['location'] }),
      rule({ lifetime_s: 600, use_within_s: 120, number: true, factors: ['time'] }),
    ])
    expect(terms).toEqual({ lifetime_s: 600, use_within_s: 120, number: true, factors: ['location', 'time'] })
  })

  test('cap what the requester asks for, and do not lengthen it', () => {
    expect(termsOf([rule({ lifetime_s: 900 })], { lifetime_s: 3000 })?.lifetime_s).toBe(900)
    expect(termsOf([rule({ lifetime_s: 900 })], { lifetime_s: 60 })?.lifetime_s).toBe(60)
    expect(termsOf([rule()])).toMatchObject({ lifetime_s: 300, use_within_s: 600 })
    // A rule that says nothing says the usual.
    expect(termsOf([rule()], { use_within_s: 86_400 })?.use_within_s).toBe(600)
    expect(termsOf([rule({ use_within_s: 3600 })], { use_within_s: 86_400 })?.use_within_s).toBe(3600)
    expect(termsOf([], { use_within_s: 86_400 })?.use_within_s).toBe(86_400)
  })

  test('allow more than an hour only if a rule says so', () => {
    expect(termsOf([rule()], { lifetime_s: 3601 })).toBeUndefined()
    expect(termsOf([rule({ lifetime_s: 86_400 })], { lifetime_s: 7200 })?.lifetime_s).toBe(7200)
  })

  test('demand a reason that matches', () => {
    const strict = rule({ reason: { pattern: 'INC-*', example: 'INC-1' } })
    expect(unmetReason([rule(), strict], undefined)).toBe(strict)
    expect(unmetReason([strict], '  ')).toBe(strict)
    expect(unmetReason([strict], 'CHG-1')).toBe(strict)
    expect(unmetReason([strict], ' INC-77')).toBeUndefined()
    expect(unmetReason([rule()], undefined)).toBeUndefined()
    expect(unmetReason([rule({ reason: {} })], 'Outage')).toBeUndefined()
  })
})

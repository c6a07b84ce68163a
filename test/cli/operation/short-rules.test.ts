import { expect, test } from 'vitest'
import { shortRules } from '../../../src/cli/operation/short-rules.ts'

test('a rule is reported that too few people are left for', () => {
  const groups = [{ name: 'sre', members: ['1', '2', '3'], asleep: ['3'] }]
  const rules = ['@sre', '@sre:2', '@sre:3', '@gone', '+12025550101', 'odd\ntext'].map((text, at) => ({
    name: `rule-${at}`,
    who: [text],
  }))
  expect(shortRules(rules, groups, 'acme').map(({ message, next }) => [message, next])).toEqual([
    [
      'rule rule-1 needs 2 of @sre, and only 2 can be asked: what one of them asks for cannot be approved',
      'svc group add sre --user ID --org acme',
    ],
    [
      'rule rule-2 needs 3 of @sre, and only 2 can be asked: nobody can do what it holds',
      'svc group add sre --user ID --org acme',
    ],
    [
      'rule rule-3 needs 1 of @gone, and nobody can be asked: nobody can do what it holds',
      'svc group add gone --user ID --org acme',
    ],
  ])
})

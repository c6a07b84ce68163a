import { describe, expect, test } from 'vitest'
import { fitted, wrap } from '../../../src/cli/terminal/wrap.ts'

const on = (columns: number) => ({ isTTY: true, columns, write: () => undefined })

describe('a message on a terminal', () => {
  test.each([
    [
      'hint: Check that it is running: svc serve starts a service here',
      'hint: Check that it is running: svc\n      serve starts a service here',
    ],
    ['svc: Too long for this terminal, by one', 'svc: Too long for this terminal, by\n     one'],
    ['# A comment that is longer than one line', '# A comment that is longer than one\n# line'],
    [
      'svc mcp: waiting for a client on standard input',
      'svc mcp: waiting for a client on\n         standard input',
    ],
    [
      '  rules.yaml:3:5 rules[0].who: needs 6, but only 2 can be asked',
      '  rules.yaml:3:5 rules[0].who: needs\n  6, but only 2 can be asked',
    ],
  ])('%s: breaks between words', (text, expected) => {
    expect(fitted(text, on(36))).toBe(expected)
  })

  test('keeps a command in one line, to be copied', () => {
    const hint = 'hint: svc approve list --org acme --status pending'
    expect(fitted(hint, on(30))).toBe(hint)
  })

  test('keeps what is indented as it is', () => {
    const address = '  https://svc.example.com/approver#agents=a-long-value'
    expect(fitted(address, on(30))).toBe(address)
  })

  test('is not changed in a pipe', () => {
    expect(fitted('a '.repeat(100), { ...on(20), isTTY: false })).toBe('a '.repeat(100))
  })
})

test('a long list of values breaks after its separators', () => {
  expect(wrap('Types (approval|device|member|key)', 16)).toEqual([
    'Types (approval|',
    'device|member|',
    'key)',
  ])
})

import { expect, test } from 'vitest'
import { agrees, agreesLoosely, disagreements } from './doc-compare.ts'
import type { Step } from './doc-page.ts'

test.each([
  [['id  7'], ['id  7'], true],
  [['id  7'], ['id  8'], false],
  [['id  7'], ['id   7'], false],
  [['at 2030-01-31T12:00:00.000Z'], ['at 2031-02-01T00:00:00.123Z'], true],
  [['apr_gAvh7DXSnypFLAgMiCCJb'], ['apr_n2WWxpvx56HXXLxCXDXiu'], true],
  [['{"a":1,"b":2}'], ['{"a":1,…}'], true],
  [['{"a":1,"b":2}'], ['{"b":1,…}'], false],
  [['one', 'two', 'three'], ['one', '…'], true],
  [['one', 'two', 'three'], ['one', '…', 'two'], false],
  [['one', 'two'], ['one'], false],
  [['acme    Acme Corp'], ['acme\tAcme Corp'], true],
  [[`hint: ${'long '.repeat(10)}`.trim(), '      text'], [`hint: ${'long '.repeat(10)}text`], true],
  [[`hint: ${'long '.repeat(10)}`.trim(), '      test'], [`hint: ${'long '.repeat(10)}text`], false],
  [['short', 'text'], ['short text'], false],
])('compares %j with %j at 100 columns: %s', (shown, expected, result) => {
  expect(agrees(shown, expected)).toBe(result)
})

test.each([
  [['ID  NAME', '1   Acme Corp'], ['ID    NAME', '1     Acme Corp'], true],
  [['ID  NA…', '1   Ac…'], ['ID    NAME', '1     Acme Corp'], true],
  [['ID  NAME', '1   Acme Corp'], ['ID    NA…', '1     Ac…'], true],
  [['ID  NA…', '1   Bc…'], ['ID    NAME', '1     Acme Corp'], false],
  [['ID', '1'], ['ID    NAME', '1     Acme Corp'], false],
  [['ID  STA…', '1   act…'], ['ID  NAME  STATE', '1   Acme  active'], true],
  [['ID  NAME  STATE', '1   Acme  active'], ['ID  STATE', '1   active'], true],
  [['ID  STATE', '1   active'], ['ID  NAME  STATE', '1   Acme  removed'], false],
  [['ID', '1', 'Left out: A_B, C. -o', 'json shows everything'], ['ID', '1'], true],
  [['ID', '1', 'Left out: A_B, C. -o', 'json'], ['ID', '1'], false],
  [['ID  STATE', '1   active'], ['ID  STATE  NAME', '2   active  Acme'], false],
  [['ID  ROLE', '1   active'], ['ID  NAME  STATE', '1   Acme  active'], false],
  [['1  2026-1…'], ['1  2030-01-31T12:00:00.000Z'], true],
  [['a long text that', 'was wrapped'], ['a long text that was wrapped'], true],
  [['a long text that', 'was changed'], ['a long text that was wrapped'], false],
])('compares %j with %j at another width: %s', (shown, expected, result) => {
  expect(agreesLoosely(shown, expected)).toBe(result)
})

const step: Step = {
  line: 7,
  command: 'svc wait',
  hidden: false,
  terminal: 'main',
  expected: ['asked'],
  keys: [],
}

test('compares the later output of a command at its end', () => {
  const steps = [{ ...step, later: ['approved'] }]
  const shown = { exit: 0, written: '', lines: ['asked', 'approved'], meanwhile: ['asked'] }
  expect(disagreements(steps, [shown], agrees)).toEqual([])
  const denied = { ...shown, lines: ['asked', 'denied'] }
  expect(disagreements(steps, [denied], agrees)).toMatchObject([{ line: 7, shown: ['asked', 'denied'] }])
})

test('reports steps that did not run, except hidden ones', () => {
  expect(disagreements([step], [], agrees)).toMatchObject([{ line: 7 }])
  expect(disagreements([{ ...step, hidden: true }], [], agrees)).toEqual([])
})

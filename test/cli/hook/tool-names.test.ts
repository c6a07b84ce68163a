import { expect, test } from 'vitest'
import { holds, hostPattern, readNames } from '../../../src/cli/hook/tool-names.ts'

test('reads names that are repeated or separated by commas', () => {
  expect(readNames(['Bash,Edit', ' mcp__github__* '])).toEqual(['Bash', 'Edit', 'mcp__github__*'])
})

test.each(['', 'Bash,', 'a b', '(Bash|Edit)', '^Bash$', 'x'.repeat(201)])(
  'refuses "%s" as a name',
  (name) => {
    expect(() => readNames([name])).toThrow('is not the name of a tool')
  },
)

test.each([
  ['Bash', 'Bash', true],
  ['Bash', 'BashOutput', false],
  ['Bash', 'bash', false],
  ['*', 'anything', true],
  ['mcp__*', 'mcp__github__push', true],
  ['mcp__*__push', 'mcp__github__push', true],
  ['mcp__*__push', 'mcp__push', false],
  ['*a*b*', 'xxaxxbxx', true],
  ['*a*b*', 'xxbxxaxx', false],
  ['a*a', 'a', false],
  ['MCP:push', 'MCP:push', true],
  ['a.b', 'axb', false],
])('%s holds %s: %s, and the pattern for the host agrees', (name, tool, held) => {
  expect(holds([name], [tool])).toBe(held)
  expect(new RegExp(hostPattern([name])).test(tool)).toBe(held)
})

test('holds a tool under another name of the host', () => {
  expect(holds(['Edit'], ['apply_patch', 'Edit', 'Write'])).toBe(true)
})

import { describe, expect, test } from 'vitest'
import { withTable } from '../../../src/cli/mcp/toml-table.ts'

const at = ['mcp_servers', 'svc'] as const
const entry = { command: '/usr/bin/node', args: ['svc.js', 'mcp'], env: { SVC_PROFILE: 'local' } }
const put = (text: string, value: object | undefined = entry): string =>
  withTable('config.toml', text, at, value as Record<string, unknown> | undefined)

const others = `# mine
model = "o9"   # keep

[mcp_servers.other]
command = "x"

[mcp_servers.svc-two]
command = "y"
`

describe('a table', () => {
  test('is added after what the file contains, and removed without a trace', () => {
    const added = put(others)
    expect(added.startsWith(others)).toBe(true)
    expect(added).toContain('[mcp_servers.svc]')
    expect(withTable('config.toml', added, at, undefined)).toBe(others)
  })

  test('is added to an empty file', () => {
    expect(put('')).toMatch(/^\[mcp_servers\.svc\]\n/)
  })

  test('is replaced with the tables below it', () => {
    const old = `${others}\n[mcp_servers.svc]\ncommand = "old"\n[mcp_servers.svc.env]\nA = "1"\n\n[tui]\nx = 1\n`
    const text = put(old)
    expect(text).not.toContain('old')
    expect(text).toContain('[tui]')
    expect(put(text)).toBe(text)
  })

  test.each([
    ['an inline table', 'mcp_servers = { svc = { command = "x" } }\n'],
    ['a dotted key', 'mcp_servers.svc.command = "x"\n'],
    ['a quoted name', '[mcp_servers."svc"]\ncommand = "x"\n'],
    ['another value', 'mcp_servers = 7\n'],
    ['no TOML', 'a = [\n'],
    ['a header in a text', 'a = """\n[mcp_servers.svc]\n"""\n'],
  ])('is not written into %s', (_, text) => {
    expect(() => put(text)).toThrow(/nothing was written/)
  })
})

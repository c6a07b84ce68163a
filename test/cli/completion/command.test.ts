import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { svc } from '../svc.ts'

test.each([
  ['bash', 'bash'],
  ['zsh', 'zsh'],
  ['fish', 'fish'],
])('svc completion %s prints the script of the package', async (shell, ending) => {
  const { exit, out } = await svc(['completion', shell])
  expect(exit).toBe(0)
  const kept = readFileSync(new URL(`../../../completions/svc.${ending}`, import.meta.url), 'utf8')
  expect(out).toBe(kept)
})

test.each([[[]], [['tcsh']], [['__proto__']]])(
  'svc completion %j is a usage error that lists the shells',
  async (args) => {
    const { exit, out, err } = await svc(['completion', ...args])
    expect({ exit, out }).toEqual({ exit: 2, out: '' })
    expect(err).toContain('hint: svc completion bash; the shells are bash, zsh, fish')
  },
)

test.each([
  ['mcp install', ['claude-code', 'cursor', 'vscode', 'codex', 'gemini']],
  ['hook run', ['claude', 'codex', 'cursor', 'copilot', 'gemini']],
])('svc %s: offers the values of its argument, and its help lists them', async (words, values) => {
  const { out } = await svc(['completion', 'words', '--', ...words.split(' ')])
  expect(out).toBe(values.map((value) => `${value}\t\n`).join(''))
  const { out: help } = await svc([...words.split(' '), '--help'])
  expect(help).toMatch(new RegExp(`Arguments:\\n  <\\w+>  ${values.join(', ')}\\n`))
})

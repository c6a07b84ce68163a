import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { run } from '../../../src/cli/main.ts'
import { memoryIo } from '../memory-io.ts'

test.each([
  ['bash', 'bash'],
  ['zsh', 'zsh'],
  ['fish', 'fish'],
  ['powershell', 'ps1'],
])('svc completion %s prints the script that is kept in the package', async (shell, ending) => {
  const io = memoryIo()
  expect(await run(['completion', shell], io)).toBe(0)
  const kept = readFileSync(new URL(`../../../completions/svc.${ending}`, import.meta.url), 'utf8')
  expect(io.out()).toBe(kept)
})

test.each([[[]], [['tcsh']], [['__proto__']]])(
  'svc completion %j is a usage error that names the shells',
  async (args) => {
    const io = memoryIo()
    expect(await run(['completion', ...args], io)).toBe(2)
    expect(io.out()).toBe('')
    expect(io.err()).toContain('bash|zsh|fish|powershell')
  },
)

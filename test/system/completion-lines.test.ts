import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { bin } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'

// The setup lines of docs/completion.md, typed into the shell that they are for, with an empty home folder.

const page = readFileSync(fileURLToPath(new URL('../../docs/completion.md', import.meta.url)), 'utf8')
const lineFor = (shell: string): string => new RegExp(`^\\| ${shell} \\| \`([^\`]+)\``, 'm').exec(page)![1]!

const before: Record<string, [file: string, text: string]> = {
  zsh: ['.zshrc', 'autoload -Uz compinit && compinit -u\n'],
}

test.each([
  ['bash', ['-ic', 'complete -p svc'], /_svc/],
  ['zsh', ['-ic', 'print ${_comps[svc]}'], /^_svc$/m],
  ['fish', ['-c', 'complete -C "svc org "'], /^create\t/m],
])('%s completes svc after the documented setup line', (shell, ask, expected) => {
  const folder = temporaryFolder()
  try {
    mkdirSync(join(folder.path, 'bin'))
    symlinkSync(bin, join(folder.path, 'bin', 'svc'))
    const [file, text] = before[shell] ?? []
    if (file !== undefined) writeFileSync(join(folder.path, file), text!)
    const env = {
      HOME: folder.path,
      PATH: `${join(folder.path, 'bin')}:${process.env['PATH']}`,
      TERM: 'xterm',
    }
    const run = (args: string[]): string =>
      execFileSync(shell, args, {
        env,
        cwd: folder.path,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      })
    run(['-c', lineFor(shell)])
    expect(run(ask)).toMatch(expected)
  } finally {
    folder.remove()
  }
})

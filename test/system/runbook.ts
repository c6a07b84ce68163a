import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { machine } from '../machine.ts'
import { root } from '../source-tree.ts'

/**
 * Types a block of docs/runbook.md into a shell, without what only systemd or the owner of a folder of the machine can do.
 * `places`: what is at another place here. Answers what it printed.
 */
export const typeRunbook = (
  containing: string,
  {
    places,
    env = {},
    cwd = '/',
  }: { places: Record<string, string>; env?: Record<string, string>; cwd?: string },
): Promise<string> => {
  const runbook = readFileSync(join(root, 'docs', 'runbook.md'), 'utf8')
  const blocks = [...runbook.matchAll(/```sh\n(.*?)```/gs)].map(([, text]) => text!)
  const found = blocks.filter((text) => text.includes(containing))
  if (found.length !== 1) throw new Error(`${found.length} blocks of the runbook contain ${containing}`)
  const lines = found[0]!.split('\n').filter((line) => !line.startsWith('systemctl '))
  const typed = Object.entries(places).reduce(
    (text, [from, to]) => text.replaceAll(from, to),
    lines.join('\n'),
  )
  return new Promise((resolve) =>
    execFile('sh', ['-c', typed], { env: { ...machine, ...env }, cwd }, (_, stdout, stderr) =>
      resolve(stdout + stderr),
    ),
  )
}

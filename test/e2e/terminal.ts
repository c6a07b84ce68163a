import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { bin } from './processes.ts'

/** One command on a real terminal (a pty, by `script`): answers are typed, or something else is done, when their question stands there. */
export const onTerminal = async (
  args: string[],
  env: Record<string, string>,
  answers: [question: RegExp, typed: string | (() => unknown)][],
  size?: { rows: number; columns: number },
): Promise<{ exit: number | null; screen: string }> => {
  const sized = size ? `stty rows ${size.rows} cols ${size.columns}; ` : ''
  const command = [process.execPath, bin, ...args].map((word) => `'${word}'`).join(' ')
  const child = spawn('script', ['-qec', sized + command, '/dev/null'], {
    env: { PATH: process.env.PATH, TERM: 'xterm-256color', ...env },
  })
  let screen = ''
  let answered = 0
  let seen = 0
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text
    const next = answers[answered]
    if (!next || !next[0].test(screen.slice(seen))) return
    answered++
    seen = screen.length
    if (typeof next[1] === 'string') child.stdin.write(next[1])
    else next[1]()
  })
  const [exit] = (await once(child, 'close')) as [number | null]
  // oxlint-disable-next-line no-control-regex
  return { exit, screen: screen.replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, '') }
}

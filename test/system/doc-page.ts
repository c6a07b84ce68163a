import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bin, type Service } from '../e2e/processes.ts'

// A page of the docs, played on a real terminal against a real service: every line that starts with `$` in a block
// marked `console` is typed, and what it shows is what stands below it. `<!-- $ … -->` is typed too, and shown to nobody.

export type Step = { line: number; command: string; hidden: boolean; expected: string[] }

/** The commands of a page, in order. A line that starts with `> ` goes on with the command above it. */
export const stepsOf = (text: string): Step[] => {
  const steps: Step[] = []
  let inside: 'console' | 'hidden' | undefined
  for (const [at, line] of text.split('\n').entries()) {
    const last = steps.at(-1)
    const start = (command: string, hidden: boolean): void =>
      void steps.push({ line: at + 1, command, hidden, expected: [] })
    const oneLine = /^<!-- \$ (.*) -->$/.exec(line)
    if (oneLine) start(oneLine[1]!, true)
    else if (line === '```console') inside = 'console'
    else if (line === '<!--') inside = 'hidden'
    else if (line === '```' || line === '-->') inside = undefined
    else if (!inside) continue
    else if (line.startsWith('$ ')) start(line.slice(2), inside === 'hidden')
    else if (line.startsWith('> ') && last && last.expected.length === 0) last.command += `\n${line.slice(2)}`
    else if (inside === 'console') last?.expected.push(line)
  }
  return steps
}

const columns = 120

/** A line as it stands after it was written over. */
const redrawn = (line: string): string =>
  // oxlint-disable-next-line no-control-regex
  line.slice(line.lastIndexOf('\r') + 1).replaceAll(/\u001b\[[\d;]*[A-Za-z]/g, '')

const mark = (i: number): string => `printf '\\n@@%s@@\\n' ${i}`

/** What each step showed, in an empty home, with the address and the operator key of a service in the environment. */
export const play = async (
  steps: Step[],
  { home, service }: { home: string; service: Pick<Service, 'baseUrl' | 'key'> },
): Promise<string[][]> => {
  const { origin } = new URL(service.baseUrl)
  const script = join(home, 'page.sh')
  mkdirSync(join(home, 'bin'))
  symlinkSync(bin, join(home, 'bin', 'svc'))
  writeFileSync(
    script,
    [
      `stty cols ${columns} rows 1000`,
      ...steps.flatMap(({ command }, i) => [mark(i), command.replaceAll(docsOrigin, origin)]),
      mark(steps.length),
    ].join('\n'),
  )
  const child = spawn('script', ['-qefc', `bash --noprofile --norc ${script}`, '/dev/null'], {
    cwd: home,
    env: {
      PATH: `${join(home, 'bin')}:${process.env['PATH']}`,
      HOME: home,
      TERM: 'xterm',
      NO_COLOR: '1',
      SVC_BASE_URL: service.baseUrl,
      SVC_API_KEY: service.key,
    },
  })
  let screen = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (screen += text))
  await once(child, 'close')
  const parts = screen.replaceAll('\r\n', '\n').split(/\n@@\d+@@\n/)
  return parts.slice(1, -1).map((part) => part.replaceAll(origin, docsOrigin).split('\n').map(redrawn))
}

const docsOrigin = 'http://127.0.0.1:8080'

/** What is another each time, under one name. */
const settled = (line: string): string =>
  line
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<time>')
    .replaceAll(/\b(apr|ver|msg|req)_[\w-]{8,}/g, '$1_<id>')
    .replaceAll(
      /\b(svc_(?:op|org))_[0-9a-f]{8}(_[\w-]+)?/g,
      (_, kind, rest) => `${kind}_<key>${rest ? '_<rest>' : ''}`,
    )
    .replaceAll(/\b[\w-]{40,}(?:\.[\w-]{20,})*\b/g, '<token>')
    .replaceAll(/\b\d+(?:\.\d+)? (ms|s)\b/g, '<n> $1')
    .trimEnd()

const matches = (shown: string, expected: string): boolean => {
  const parts = expected.split('…').map(settled)
  if (parts.length === 1) return settled(shown) === parts[0]
  let rest = settled(shown)
  for (const [i, part] of parts.entries()) {
    const at = i === parts.length - 1 ? rest.length - part.length : rest.indexOf(part)
    if (at < 0 || (i === 0 && at > 0) || !rest.startsWith(part, at)) return false
    rest = rest.slice(at + part.length)
  }
  return true
}

const trimmed = (lines: string[]): string[] => lines.join('\n').trim().split('\n')

/** Whether what was shown is what the page says; `…` stands for any text, alone on a line for any lines. */
export const agrees = (shown: string[], expected: string[]): boolean => {
  const at = (i: number, j: number): boolean => {
    if (j === expected.length) return i === shown.length
    if (expected[j]!.trim() === '…') return at(i, j + 1) || (i < shown.length && at(i + 1, j))
    return i < shown.length && matches(shown[i]!, expected[j]!) && at(i + 1, j + 1)
  }
  return at(0, 0)
}

export type Disagreement = { line: number; command: string; expected: string[]; shown: string[] }

/** Where a page says something else than what is shown. */
export const disagreements = (steps: Step[], shown: string[][]): Disagreement[] =>
  steps.flatMap(({ line, command, hidden, expected }, i) => {
    const [said, seen] = [trimmed(expected), trimmed(shown[i] ?? ['(nothing: the page ended before)'])]
    return hidden || agrees(seen, said) ? [] : [{ line, command, expected: said, shown: seen }]
  })

export const readPage = (file: string): Step[] => stepsOf(readFileSync(file, 'utf8'))

import { readFileSync } from 'node:fs'

// Reads a page of the docs as commands: each line that starts with `$` in a `console` block is typed, and its output
// follows. `<!-- $ … -->` is typed but not shown to the reader.

/** The keys to type when the screen shows `at`. */
export type Keys = { at: RegExp; keys: string }

export type Step = {
  line: number
  command: string
  hidden: boolean
  expected: string[]
  /** The word after `console`: which of several terminals on a page the command is typed in. */
  terminal: string
  keys: Keys[]
  /** Typed in place of the command where there is no terminal for prompts. */
  piped?: string
  /** The further output of the command, from a later block of its terminal, once it has ended. */
  later?: string[]
}

const named: Record<string, string> = { Enter: '\r', Down: '\u001b[B', Up: '\u001b[A', 'Ctrl-C': '\u0003' }

/** `<!-- at "Your decision": Down Enter -->` */
const keysOf = (line: string): Keys | undefined => {
  const [, at, typed] = /^<!-- at "([^"]+)": (.+) -->$/.exec(line) ?? []
  if (at === undefined || typed === undefined) return undefined
  const keys = typed.split(' ').map((word) => named[word] ?? word)
  return { at: new RegExp(at), keys: keys.join('') }
}

/** The commands of a page, in order. A line that starts with `> ` continues the command above it. */
export const stepsOf = (text: string): Step[] => {
  const steps: Step[] = []
  let inside: 'console' | 'hidden' | undefined
  let terminal = 'main'
  for (const [at, line] of text.split('\n').entries()) {
    const last = steps.findLast((step) => inside === 'hidden' || step.terminal === terminal)
    const start = (command: string, hidden: boolean): void =>
      void steps.push({
        line: at + 1,
        command,
        hidden,
        expected: [],
        terminal: hidden ? 'main' : terminal,
        keys: [],
      })
    const oneLine = /^<!-- \$ (.*) -->$/.exec(line)
    const piped = /^<!-- piped: (.*) -->$/.exec(line)
    const keys = keysOf(line)
    const block = /^```console(?: ([a-z]+))?$/.exec(line)
    if (oneLine) start(oneLine[1]!, true)
    else if (piped) steps.at(-1)!.piped = piped[1]!
    else if (keys) steps.at(-1)!.keys.push(keys)
    else if (block) {
      inside = 'console'
      terminal = block[1] ?? 'main'
    } else if (line === '<!--') inside = 'hidden'
    else if (line === '```' || line === '-->') inside = undefined
    else if (!inside) continue
    else if (line.startsWith('$ ')) start(line.slice(2), inside === 'hidden')
    else if (/^>(?: |$)/.test(line) && last && last.expected.length === 0)
      last.command += `\n${line.slice(2)}`
    else if (inside === 'hidden') continue
    else if (last === steps.at(-1)) last?.expected.push(line)
    else (last!.later ??= []).push(line)
  }
  return steps
}

export const readPage = (file: string): Step[] => stepsOf(readFileSync(file, 'utf8'))

import { SvcError, usageError } from '../../core/errors.ts'
import { escapeJson, safeText } from '../../core/safe-text.ts'
import { loadJqProgram } from './jq-program.ts'

let program: ReturnType<typeof loadJqProgram> | undefined

/** jq exits with this when a filter does not compile. */
const doesNotCompile = 3

/** jq runs to its end before anything else does, a filter without an end for ever: Ctrl-C ends the process meanwhile. */
const interruptible = <T>(work: () => T): T => {
  const listeners = process.listeners('SIGINT')
  process.removeAllListeners('SIGINT')
  try {
    return work()
  } finally {
    for (const listener of listeners) process.on('SIGINT', listener)
  }
}

/**
 * Runs jq on JSON text. A filter that starts with a hyphen would be an option of jq, so a space comes first. When jq runs
 * out of memory its runtime writes "Aborted()" to the console and throws.
 */
const execute = async (text: string, filter: string) => {
  const jq = await (program ??= loadJqProgram())
  const { error } = console
  console.error = () => undefined
  try {
    return interruptible(() => jq(text, ` ${filter}`))
  } catch (cause) {
    program = undefined
    const mebibytes = Math.ceil(text.length / 1024 / 1024)
    throw new SvcError('failed', 'jq_memory', `--jq ran out of memory on ${mebibytes} MiB of JSON`, {
      hint: 'Print it with -o json and pipe it to the jq program',
      cause,
    })
  } finally {
    console.error = error
  }
}

const firstLine = (stderr: string): string =>
  stderr
    .split('\n')[0]!
    .replace(/^jq: (?:error(?: \([^)]*\))?: )?/, '')
    .split(' at <top-level>')[0]!

/** Fails when jq cannot compile the filter. Runs nothing: jq gets no input. */
export const checkFilter = async (filter: string): Promise<void> => {
  const { exitCode, stderr } = await execute('', filter)
  if (exitCode === doesNotCompile)
    throw usageError(`--jq "${filter}" is not a valid filter: ${firstLine(stderr)}`, "--jq '.[].id'")
}

/** Half of a surrogate pair, which JSON allows as an escape and jq refuses, becomes the replacement character. */
const wellFormed = (json: string): string =>
  json.includes('\\ud')
    ? json.replace(/\\(?:(ud[89a-f][0-9a-f]{2})|.)/g, (escape, lone?: string) => (lone ? '\ufffd' : escape))
    : json

/** What a filter makes of a value, a result a line, and what it writes besides (`debug`). */
export type Filtered = { text: string; said: string }

/** Runs a filter. A result that is text is printed as it is (escaped on a terminal), any other as JSON. */
export const runJq = async (value: unknown, filter: string, onTerminal: boolean): Promise<Filtered> => {
  const { stdout, stderr, exitCode } = await execute(wellFormed(JSON.stringify(value)), filter)
  if (exitCode !== 0)
    throw new SvcError('failed', 'jq', `--jq "${filter}" failed: ${firstLine(stderr)}`, {
      hint: 'Remove --jq to see the answer',
    })
  const text = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      if (!line.startsWith('"')) return `${escapeJson(line)}\n`
      const text = JSON.parse(line) as string
      return `${onTerminal ? safeText(text) : text}\n`
    })
    .join('')
  return { text, said: stderr }
}

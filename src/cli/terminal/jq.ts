import { createContext, runInContext } from 'node:vm'
import { SvcError, usageError } from '../../core/errors.ts'
import { escapeJson, safeText, seenText } from '../../core/safe-text.ts'
import { loadJqProgram } from './jq-program.ts'

let program: ReturnType<typeof loadJqProgram> | undefined

/** jq exits with this when a filter does not compile. */
const doesNotCompile = 3

/** Seconds that a filter has after a change. */
const mostSeconds = 5

/**
 * Nothing else happens until jq ends, and a filter may have no end. Ctrl-C ends the filter. SIGTERM ends the process,
 * except after a change: its answer must not be lost, so the filter ends by itself after `mostSeconds`.
 */
const limited = <T>(work: () => T, filter: string, changed: boolean): T => {
  const listeners = changed ? [] : process.listeners('SIGTERM')
  for (const listener of listeners) process.removeListener('SIGTERM', listener)
  const timeout = changed ? { timeout: mostSeconds * 1000 } : {}
  try {
    return runInContext('work()', createContext({ work }), { breakOnSigint: true, ...timeout }) as T
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED')
      throw new SvcError('interrupted', 'interrupted', `--jq "${filter}" was interrupted`)
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      throw new SvcError('failed', 'jq_time', `--jq "${filter}" did not finish within ${mostSeconds} s`)
    throw error
  } finally {
    for (const listener of listeners) process.on('SIGTERM', listener)
  }
}

/**
 * Runs jq on JSON text. A filter that starts with a hyphen would be an option of jq, so a space comes first. When jq runs
 * out of memory its runtime writes "Aborted()" to the console and throws.
 */
const execute = async (text: string, filter: string, changed = false) => {
  const jq = await (program ??= loadJqProgram())
  const { error } = console
  console.error = () => undefined
  try {
    return limited(() => jq(text, ` ${filter}`), filter, changed)
  } catch (cause) {
    program = undefined
    if (cause instanceof SvcError) throw cause
    const mebibytes = Math.ceil(text.length / 1024 / 1024)
    throw new SvcError('failed', 'jq_memory', `--jq ran out of memory on ${mebibytes} MiB of JSON`, {
      hint: 'Print it with -o json and pipe it to the jq program',
      cause,
    })
  } finally {
    console.error = error
  }
}

const firstLine = (stderr: string): string => {
  const said = stderr
    .split('\n')[0]!
    .replace(/^jq: (?:error(?: \([^)]*\))?: )?/, '')
    .split(' at <top-level>')[0]!
  // What jq says when `input` finds nothing to read.
  return said === 'break' ? 'there is no more input; the answer is the only one' : said
}

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

type Run = {
  onTerminal: boolean
  /** Something was changed, and the value is its answer. */
  changed?: boolean | undefined
  /** The value holds what is shown once, and what a filter says on standard error may quote it. */
  secret?: boolean
}

/** Runs a filter. A result that is text is printed without quotes, any other as JSON; what nobody sees is escaped in both. */
export const runJq = async (
  value: unknown,
  filter: string,
  { onTerminal, changed, secret }: Run,
): Promise<Filtered> => {
  const { stdout, stderr, exitCode } = await execute(wellFormed(JSON.stringify(value)), filter, changed)
  if (exitCode !== 0)
    throw new SvcError(
      'failed',
      'jq',
      `--jq "${filter}" failed${secret ? '. Its error message is not shown, because it may contain a secret' : `: ${firstLine(stderr)}`}`,
      { hint: 'Remove --jq to see the answer' },
    )
  const text = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      if (!line.startsWith('"')) return `${escapeJson(line)}\n`
      const text = JSON.parse(line) as string
      return `${onTerminal ? safeText(text) : seenText(text)}\n`
    })
    .join('')
  const isHidden = secret && stderr !== ''
  return {
    text,
    said: isHidden ? 'What --jq wrote to standard error is not shown: it may contain a secret' : stderr,
  }
}

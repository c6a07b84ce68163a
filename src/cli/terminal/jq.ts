import { createContext, runInContext } from 'node:vm'
import { failure, SvcError, usageError } from '../../core/errors.ts'
import { escapeJson, safeText, seenText } from '../../core/safe-text.ts'
import { loadJqProgram } from './jq-program.ts'

let program: ReturnType<typeof loadJqProgram> | undefined

/** jq exits with this when a filter does not compile. */
const doesNotCompile = 3

/** Time limit of a filter after a change. */
const mostSeconds = 5

/**
 * jq blocks the process, and a filter can run forever. Ctrl-C stops the filter. SIGTERM ends the process, except after a
 * change: the answer must not be lost, so the filter stops after `mostSeconds`.
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
 * Runs jq on JSON text. A space before the filter keeps jq from reading a leading hyphen as an option. If jq runs out of
 * memory, its runtime writes "Aborted()" to the console and throws.
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
  const line = stderr
    .split('\n')[0]!
    .replace(/^jq: (?:error(?: \([^)]*\))?: )?/, '')
    .split(' at <top-level>')[0]!
  // The message of jq if `input` finds nothing to read.
  return line === 'break' ? 'there is no more input; the answer is the only one' : line
}

/** Loads jq and compiles the filter, so that its run after the answer is short. Without input jq runs nothing. */
export const prepareFilter = (filter: string): Promise<{ exitCode: number; stderr: string }> =>
  execute('', filter)

/** `length`, `keys` or a path: `.`, `.status`, `.[0].id`, `.changes[]`. */
const plainStep = /^(?:length|keys|\.|(?:\.[a-z]\w*|\.\[\d*\])(?:\.[a-z]\w*|\[\d*\])*)$/i

/** Whether a filter is certainly valid, so that jq can be loaded while the service answers. */
const isPlain = (filter: string): boolean => filter.split(' | ').every((step) => plainStep.test(step))

/** Throws a usage error if jq cannot compile the filter. */
export const checkFilter = async (filter: string): Promise<void> => {
  if (isPlain(filter)) return
  const { exitCode, stderr } = await prepareFilter(filter)
  if (exitCode === doesNotCompile)
    throw usageError(`--jq "${filter}" is not a valid filter: ${firstLine(stderr)}`, "--jq '.[].id'")
}

/** Replaces unpaired surrogates, which JSON allows as escapes and jq refuses. */
const wellFormed = (json: string): string =>
  json.includes('\\ud')
    ? json.replace(/\\(?:(ud[89a-f][0-9a-f]{2})|.)/g, (escape, lone?: string) => (lone ? '\ufffd' : escape))
    : json

type Run = {
  onTerminal: boolean
  /** The value is the answer of a change. */
  changed?: boolean | undefined
  /** The value contains a secret that is shown once, which messages on standard error may quote. */
  secret?: boolean
}

/**
 * The results of a filter, one per line, and its messages on standard error (`debug`). Text results have no quotes, others are JSON.
 * Escapes invisible characters in both.
 */
export const runJq = async (value: unknown, filter: string, { onTerminal, changed, secret }: Run) => {
  const { stdout, stderr, exitCode } = await execute(wellFormed(JSON.stringify(value)), filter, changed)
  if (exitCode !== 0)
    throw failure(
      'jq',
      `--jq "${filter}" failed${secret ? '. Its error message is not shown, because it may contain a secret' : `: ${firstLine(stderr)}`}`,
      'Remove --jq to see the answer',
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
  const hidden = 'What --jq wrote to standard error is not shown: it may contain a secret'
  return { text, diagnostics: isHidden ? hidden : stderr }
}

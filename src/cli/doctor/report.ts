import { SvcError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import { wantsColour } from '../terminal/output.ts'
import { wrap } from '../terminal/wrap.ts'
import type { Finding } from './finding.ts'

const colours = { ok: 'green', note: 'dim', warn: 'yellow', fail: 'red' } as const

const draw = async (findings: readonly Finding[], { io, globals }: Context): Promise<string> => {
  const { Chalk } = await import('chalk')
  const chalk = new Chalk({ level: wantsColour(io.stdout, { io, globals }) ? 1 : 0 })
  const width = Math.max(...findings.map(({ check }) => check.length))
  const column = ' '.repeat(width + 8)
  const room = io.stdout.isTTY ? Math.max(io.stdout.columns - column.length, 20) : Number.POSITIVE_INFINITY
  // Wrapped at spaces, because a terminal breaks words.
  const lines = (text: string, label = ''): string =>
    wrap(safeLine(text.replaceAll('\n', ' ')), room - label.length).join(
      `\n${column}${' '.repeat(label.length)}`,
    )
  return findings
    .map(({ check, state, message, next }) => {
      const line = `${chalk[colours[state]](state.padEnd(4))}  ${check.padEnd(width)}  ${lines(message)}\n`
      return next ? `${line}${column}next: ${lines(next, 'next: ')}\n` : line
    })
    .join('')
}

/** Prints findings as text, with `below`, or as data. Throws if a check failed. */
export const reportFindings = async (
  findings: readonly Finding[],
  context: Context,
  { code, hint, below = '' }: { code: string; hint?: string; below?: string },
): Promise<void> => {
  const output = await context.output()
  const { output: requested } = context.globals
  const plain = output.format === 'table' || (output.format === 'tsv' && requested === undefined)
  if (plain) context.io.stdout.write((await draw(findings, context)) + below)
  else await output.report('Findings', findings, { columns: ['check', 'state', 'message', 'next'] })
  const bad = findings.filter(({ state }) => state === 'fail')
  if (bad.length === 0) return
  const failed = bad.length === 1 ? 'A check' : `${bad.length} checks`
  throw new SvcError('failed', code, `${failed} failed: ${bad.map(({ check }) => check).join(', ')}`, {
    hint,
  })
}

import { styleText } from 'node:util'
import { safeJson, safeText } from '../../core/safe-text.ts'
import { chooseFormat, wantsColour, wantsMachine, type Output } from './output.ts'
import { gridOf, payloadOf, type Envelope, type Shape } from './payload.ts'
import { render } from './render.ts'
import type { Run } from './io.ts'
import { fitted } from './wrap.ts'

/** Throws a usage error if the flags contradict each other. */
export const createOutput = (run: Run): Output => {
  const { io, globals } = run
  const format = chooseFormat({ io, globals })
  const { stdout, stderr } = io

  const warn = (text: string): void => {
    const shown = fitted(safeText(text), stderr)
    const marked = shown.replace(/^Warning:/, (mark) => styleText('yellow', mark))
    stderr.write(`${wantsColour(stderr, run) ? marked : shown}\n`)
  }
  const note = (text: string): void => {
    if (stderr.isTTY) warn(text)
  }

  /** What a person reads below a table. */
  let below: string | undefined

  const asTable = async (envelope: Envelope, payload: unknown, shape: Shape): Promise<string> => {
    const { drawTable, readable } = await import('./table.ts')
    const { leaveOut, leftOut } = await import('./columns.ts')
    const { maskFields } = await import('./mask.ts')
    // An answer with only a message is printed as a sentence.
    const isBare = payload !== envelope.data && Object.keys(envelope).every((name) => bareFields.has(name))
    if (isBare) return `${fitted(safeText(envelope.message), stdout)}\n`
    const masked =
      stdout.isTTY && !globals.reveal && shape.masked ? maskFields(payload, shape.masked) : payload
    const width = stdout.isTTY ? stdout.columns : Infinity
    const now = stdout.isTTY ? io.now() : undefined
    const { folded, texts } = shape
    const columns = shape.columns?.filter((name) => !folded?.includes(name))
    const whole = gridOf(readable(masked, { now, folded, texts }), { ...shape, columns })
    const grid = leaveOut(whole, { width, wide: shape.wide })
    // What a record does not have is no news; a script reads another format.
    if (!grid.head) grid.lines = grid.lines.filter(([, value]) => value !== '')
    const missing = leftOut(whole, grid)
    if (missing.length > 0) below = `Left out: ${missing.join(', ')}. -o json shows everything`
    return `${drawTable(grid, { width, colour: wantsColour(stdout, { io, globals }) })}
`
  }

  const textOf = async (envelope: Envelope, payload: unknown, shape: Shape): Promise<string> => {
    if (globals.jq !== undefined) {
      const { runJq } = await import('./jq.ts')
      const { text, diagnostics } = await runJq(payload, globals.jq, {
        onTerminal: stdout.isTTY,
        changed: run.changed,
        secret: (shape.once?.size ?? 0) > 0,
      })
      if (diagnostics) warn(diagnostics)
      return text
    }
    const isDefault = globals.output === undefined
    const as = isDefault && shape.document ? 'json' : format
    if (as !== 'table') return render(payload, shape, as, stdout.isTTY)
    if (!Array.isArray(payload) || payload.length > 0) return asTable(envelope, payload, shape)
    // After a change, the message above already describes the result.
    if (!run.changed) note('Nothing found.')
    return ''
  }

  const show = async (envelope: Envelope, shape: Shape = {}): Promise<void> => {
    const payload = payloadOf(envelope, shape.whole === true)
    io.onAnswer?.(payload)
    const once = shape.once !== undefined && shape.once.size > 0 ? shape.once : undefined
    let text: string
    try {
      text = await textOf(envelope, payload, shape)
    } catch (error) {
      if (!run.changed) throw error
      const raw = `${safeJson(payload, 2)}\n`
      if (once) run.once = raw
      stdout.write(raw)
      throw (await import('./error.ts')).notShownAsRequested(run, error)
    }
    if (once) {
      const { unprinted } = await import('./error.ts')
      const missing = unprinted(envelope.data, once, text)
      if (missing.length > 0)
        warn(`Not printed, and never shown again: ${missing.join(', ')}. Replace it if you need it.`)
      // A third-party service may not return the secret.
      else if (unprinted(envelope.data, once, '').length > 0) run.once = text
    }
    stdout.write(text)
    if (below !== undefined) note(below)
    below = undefined
  }

  const report: Output['report'] = (message, data, shape) => show({ status: 'success', message, data }, shape)
  const reportDryRun: Output['reportDryRun'] = async (nothing, data, shape) => {
    await show({ status: 'dry_run', message: nothing, data }, shape)
    note(`${nothing}.`)
  }

  return { format, machine: wantsMachine(globals), show, report, reportDryRun, note, warn }
}

const bareFields = new Set(['status', 'message', 'data'])

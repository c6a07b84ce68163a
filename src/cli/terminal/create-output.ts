import { safeJson, safeText } from '../../core/safe-text.ts'
import { chooseFormat, wantsColour, wantsMachine, writePaged, type Output } from './output.ts'
import { gridOf, namesIn, payloadOf, pickFields, type Envelope, type Shape } from './payload.ts'
import { render } from './render.ts'
import type { Run } from './io.ts'

/** Fails with a usage error when the flags contradict each other. */
export const createOutput = (run: Run): Output => {
  const { io, globals } = run
  const format = chooseFormat({ io, globals })
  const { stdout, stderr } = io

  const note = (text: string): void => {
    if (stderr.isTTY) stderr.write(`${safeText(text)}\n`)
  }
  const warn = (text: string): void => stderr.write(`${safeText(text)}\n`)

  const asTable = async (envelope: Envelope, payload: unknown, shape: Shape): Promise<string> => {
    const [{ drawTable, readable }, { maskFields }] = await Promise.all([
      import('./table.ts'),
      import('./mask.ts'),
    ])
    // An answer that holds nothing but its message is told as a sentence.
    const isBare = payload !== envelope.data && Object.keys(envelope).every((name) => bareFields.has(name))
    if (isBare && globals.json === undefined) return `${safeText(envelope.message)}\n`
    const above = globals.json === undefined && Array.isArray(payload) ? (shape.above ?? []) : []
    const rows = Array.isArray(payload) ? [...above, ...payload] : payload
    const masked = stdout.isTTY && !globals.reveal && shape.masked ? maskFields(rows, shape.masked) : rows
    const width = stdout.isTTY ? stdout.columns : Infinity
    // Rows that come one by one stay on the screen: how long ago they were would soon be wrong.
    const now = stdout.isTTY && shape.above === undefined ? io.now() : undefined
    const table = drawTable(gridOf(readable(masked, { now, folded: shape.folded }), shape), {
      width,
      colour: wantsColour(stdout, { io, globals }),
    })
    if (above.length === 0) return `${table}\n`
    // The head and the rows above are on the screen.
    return `${table
      .split('\n')
      .slice(1 + above.length)
      .join('\n')}\n`
  }

  const picked = (payload: unknown, { known }: Shape): unknown => {
    const { json } = globals
    if (json === undefined) return payload
    if (!run.changed) return pickFields(payload, json, { known })
    // The change was made: a field that is not there is no reason to keep back the others.
    return pickFields(payload, json, { known, missing: (name) => warn(`The answer has no field "${name}"`) })
  }

  const textOf = async (envelope: Envelope, whole: unknown, asked: Shape): Promise<string> => {
    const payload = picked(whole, asked)
    if (globals.jq !== undefined) {
      const { runJq } = await import('./jq.ts')
      const { text, said } = await runJq(payload, globals.jq, {
        onTerminal: stdout.isTTY,
        changed: run.changed,
        secret: (asked.once?.size ?? 0) > 0,
      })
      if (said) warn(said)
      return text
    }
    const { json } = globals
    const shape =
      json === undefined
        ? asked
        : { ...asked, columns: undefined, known: typeof json === 'string' ? namesIn(json) : asked.known }
    const unsaid = globals.output === undefined
    // Picked fields of rows that come one by one are a document a row.
    const byRow = shape.above !== undefined && format === 'json'
    const as = unsaid && shape.document ? 'json' : unsaid && byRow ? 'ndjson' : format
    if (as !== 'table') return render(payload, shape, as, stdout.isTTY)
    if (!Array.isArray(payload) || payload.length > 0) return asTable(envelope, payload, shape)
    // After a change, the message above says what was done.
    if (!run.changed) note('Nothing found.')
    return ''
  }

  const write = async (text: string, paged: boolean): Promise<void> => {
    if (!paged || !stdout.isTTY) return stdout.write(text)
    await writePaged(text, { io, globals })
  }

  const show = async (envelope: Envelope, shape: Shape = {}): Promise<void> => {
    const payload = payloadOf(envelope, globals.envelope === true || shape.whole === true)
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
      throw (await import('./error.ts')).notShownAsAsked(run, error)
    }
    if (once) {
      const { unprinted } = await import('./error.ts')
      const missing = unprinted(envelope.data, once, text)
      if (missing.length > 0)
        warn(`Not printed, and never shown again: ${missing.join(', ')}. Replace it if you need it.`)
      // Another service may answer without.
      else if (unprinted(envelope.data, once, '').length > 0) run.once = text
    }
    await write(text, shape.paged === true)
  }

  return { format, machine: wantsMachine(globals), show, note, warn }
}

const bareFields = new Set(['status', 'message', 'data'])

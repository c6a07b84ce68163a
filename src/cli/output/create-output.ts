import { safeText } from '../../core/safe-text.ts'
import type { Globals } from '../context.ts'
import type { Io } from '../io.ts'
import { chooseFormat, wantsMachine } from './choose-format.ts'
import { wantsColour } from './colour.ts'
import { gridOf } from './grid.ts'
import type { Output, Shape } from './output.ts'
import { payloadOf, pickFields, type Envelope } from './payload.ts'
import { render } from './render.ts'

/** Fails with a usage error when the flags contradict each other. */
export const createOutput = ({ io, globals }: { io: Io; globals: Globals }): Output => {
  const format = chooseFormat({ io, globals })
  const { stdout, stderr } = io

  const note = (text: string): void => {
    if (stderr.isTTY) stderr.write(`${safeText(text)}\n`)
  }

  const asTable = async (envelope: Envelope, payload: unknown, shape: Shape): Promise<string> => {
    const [{ drawTable }, { maskFields }] = await Promise.all([import('./table.ts'), import('./mask.ts')])
    // An answer that holds nothing but its message is told as a sentence.
    const isBare = payload !== envelope.data && Object.keys(envelope).every((name) => bareFields.has(name))
    if (isBare && globals.json === undefined) return `${safeText(envelope.message)}\n`
    const masked =
      stdout.isTTY && !globals.reveal && shape.masked ? maskFields(payload, shape.masked) : payload
    const width = stdout.isTTY ? stdout.columns : Infinity
    return `${drawTable(gridOf(masked, shape), { width, colour: wantsColour(stdout, { io, globals }) })}\n`
  }

  const show = async (envelope: Envelope, shape: Shape = {}): Promise<void> => {
    const write = async (text: string): Promise<void> => {
      if (!shape.paged || !stdout.isTTY) return stdout.write(text)
      const { writePaged } = await import('./pager.ts')
      await writePaged(text, { io, globals })
    }
    let payload = payloadOf(envelope, globals.envelope === true)
    io.onAnswer?.(payload)
    if (globals.json !== undefined) {
      payload = pickFields(payload, globals.json)
      shape = { ...shape, columns: undefined }
    }
    if (globals.jq !== undefined) {
      const { runJq } = await import('./jq.ts')
      const { text, said } = await runJq(payload, globals.jq, stdout.isTTY)
      await write(text)
      if (said) stderr.write(`${safeText(said)}\n`)
    } else if (format !== 'table') await write(await render(payload, shape, format, stdout.isTTY))
    else if (Array.isArray(payload) && payload.length === 0) note('Nothing found.')
    else await write(await asTable(envelope, payload, shape))
  }

  return {
    format,
    machine: wantsMachine(globals),
    show,
    note,
    warn: (text) => stderr.write(`${safeText(text)}\n`),
  }
}

const bareFields = new Set(['status', 'message', 'data'])

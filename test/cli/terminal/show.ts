import type { Globals } from '../../../src/cli/terminal/io.ts'
import { createOutput } from '../../../src/cli/terminal/create-output.ts'
import type { Shape } from '../../../src/cli/terminal/payload.ts'
import { memoryIo } from '../memory-io.ts'

/** The output for this data, on a terminal or in a pipe. Without data, the envelope has none. */
export const shown = async (
  data: unknown,
  globals: Globals = {},
  options: { shape?: Shape; columns?: number; extra?: Record<string, unknown> } = {},
): Promise<{ tty: string; piped: string; ttyErr: string }> => {
  const envelope = {
    status: 'success',
    message: 'Done',
    ...(data === undefined ? {} : { data }),
    ...options.extra,
  }
  const tty = memoryIo({ tty: true, columns: options.columns, env: { NO_COLOR: '1' } })
  const piped = memoryIo({ columns: options.columns })
  await createOutput({ io: tty, globals }).show(envelope, options.shape)
  await createOutput({ io: piped, globals }).show(envelope, options.shape)
  return { tty: tty.out(), piped: piped.out(), ttyErr: tty.err() }
}

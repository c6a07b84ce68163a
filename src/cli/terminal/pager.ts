import type { Globals, Io, Pager } from './io.ts'

/** As git and gh: SVC_PAGER before PAGER, empty or `cat` is none, `less` where nothing is said. */
const pagerOf = ({ io: { env }, globals }: { io: Io; globals: Globals }): Pager | undefined => {
  if (globals.input === false || env['CI'] || env['TERM'] === 'dumb') return undefined
  const command = env['SVC_PAGER'] ?? env['PAGER']
  if (command?.trim() === '' || command === 'cat') return undefined
  return {
    command,
    env: {
      // Quit at once what fits, colours, leave the text on the screen.
      LESS: env['LESS'] ?? 'FRX',
      // What was searched for may be a person's number.
      LESSHISTFILE: '-',
    },
  }
}

const rowsOf = (text: string, columns: number): number =>
  text.split('\n').reduce((rows, line) => rows + Math.max(1, Math.ceil(line.length / columns)), -1)

/** Writes to stdout; through a pager where that is a terminal on which the text does not fit. */
export const writePaged = async (
  text: string,
  { io, globals }: { io: Io; globals: Globals },
): Promise<void> => {
  const { isTTY, rows, columns } = io.stdout
  const isLong = isTTY && rows !== undefined && rowsOf(text, columns) >= rows
  const pager = isLong ? pagerOf({ io, globals }) : undefined
  const isShown = pager !== undefined && io.page !== undefined && (await io.page(text, pager))
  if (!isShown) io.stdout.write(text)
}

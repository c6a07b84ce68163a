import xterm from '@xterm/headless'

/** A terminal of this width that output can be written to bit by bit. */
export const createScreen = (columns: number) => {
  const terminal = new xterm.Terminal({
    cols: columns,
    rows: 1000,
    scrollback: 100_000,
    allowProposedApi: true,
  })
  // Most of the rows stay empty.
  let last = 0
  terminal.onLineFeed(
    () => (last = Math.max(last, terminal.buffer.active.baseY + terminal.buffer.active.cursorY)),
  )
  return {
    write: (text: string): Promise<void> => new Promise((resolve) => terminal.write(text, resolve)),
    /** The lines that it shows. A wrapped line is one line. */
    lines: (): string[] => {
      const { active } = terminal.buffer
      const lines: string[] = []
      for (let at = 0; at <= last; at++) {
        const line = active.getLine(at)!
        const goesOn = active.getLine(at + 1)?.isWrapped === true
        const text = line.translateToString(!goesOn)
        if (line.isWrapped) lines[lines.length - 1] += text
        else lines.push(text)
      }
      return lines
    },
    dispose: (): void => terminal.dispose(),
  }
}

/** The lines that a terminal of this width shows for an output. */
export const screenOf = async (written: string, columns: number): Promise<string[]> => {
  const screen = createScreen(columns)
  await screen.write(written)
  const lines = screen.lines()
  screen.dispose()
  return lines
}

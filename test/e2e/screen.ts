import xterm from '@xterm/headless'

/** The lines that a terminal of this width shows for an output. A wrapped line is one line. */
export const screenOf = async (written: string, columns: number): Promise<string[]> => {
  const terminal = new xterm.Terminal({
    cols: columns,
    rows: 1000,
    scrollback: 100_000,
    allowProposedApi: true,
  })
  await new Promise<void>((resolve) => terminal.write(written, resolve))
  const { active } = terminal.buffer
  const lines: string[] = []
  for (let at = 0; at < active.length; at++) {
    const line = active.getLine(at)!
    const goesOn = active.getLine(at + 1)?.isWrapped === true
    const text = line.translateToString(!goesOn)
    if (line.isWrapped) lines[lines.length - 1] += text
    else lines.push(text)
  }
  terminal.dispose()
  return lines
}

import xterm from '@xterm/headless'

/** What a terminal of this width shows after this output: the whole of it, a line that it wrapped in one piece. */
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

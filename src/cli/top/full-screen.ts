// The whole terminal, which is given back however the command ends.

const enter = '\u001b[?1049h\u001b[?25l'
const leave = '\u001b[?25h\u001b[?1049l'
const ctrlC = '\u0003'

export type FullScreen = {
  size(): { columns: number; rows: number }
  show(lines: readonly string[]): void
  /** Aborted by q or Ctrl-C. */
  quit: AbortSignal
  close(): void
}

export const openFullScreen = (onResize: () => void): FullScreen => {
  const { stdin, stdout } = process
  const quit = new AbortController()
  const onKey = (keys: Buffer): void => {
    if (/[qQ]/.test(keys.toString('latin1')) || keys.includes(ctrlC)) quit.abort()
  }
  let isOpen = true
  const close = (): void => {
    if (!isOpen) return
    isOpen = false
    stdin.off('data', onKey)
    stdout.off('resize', onResize)
    process.off('exit', close)
    if (stdin.isTTY) stdin.setRawMode(false)
    stdin.pause()
    stdout.write(leave)
  }
  if (stdin.isTTY) stdin.setRawMode(true)
  stdin.on('data', onKey)
  stdout.on('resize', onResize)
  process.on('exit', close)
  stdout.write(enter)
  return {
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    show: (lines) => void stdout.write(`\u001b[H${lines.join('\u001b[K\r\n')}\u001b[K\u001b[J`),
    quit: quit.signal,
    close,
  }
}

import { sleepFor } from '../../core/sleep.ts'
import { mayComeBack } from '../../client/retry.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { readWhole } from '../operation/flags.ts'
import { resolveOrg } from '../context/organization.ts'
import { defineCommand } from '../program/define-command.ts'
import { wantsColour, wantsMachine } from '../terminal/output.ts'
import { drawScreen, type Look } from './drawing.ts'
import { readSnapshot, type Snapshot } from './panels.ts'

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

const enter = '\u001b[?1049h\u001b[?25l'
const leave = '\u001b[?25h\u001b[?1049l'
const ctrlC = '\u0003'

/** The whole terminal, which is given back however the command ends. */
const openFullScreen = (onResize: () => void) => {
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
    show: (lines: readonly string[]) =>
      void stdout.write(`\u001b[H${lines.join('\u001b[K\r\n')}\u001b[K\u001b[J`),
    /** Aborted by q or Ctrl-C. */
    quit: quit.signal,
    close,
  }
}

const watchLive = async (
  context: Context,
  { seconds, org }: { seconds: number; org: number | undefined },
  look: Pick<Look, 'colour' | 'reveal'>,
): Promise<void> => {
  const { io } = context
  const [client, { baseUrl }] = await Promise.all([context.client(), context.settings()])
  const { host } = new URL(baseUrl.value)
  // Before the terminal is taken: a key or an address that cannot work is an ordinary error.
  let snapshot: Snapshot = await readSnapshot(client, org, io.signal)
  let lost: string | undefined
  const draw = (): void => {
    const state = lost === undefined ? clock.format(io.now()) : `no answer: ${lost}`
    const head = `${host}  ${state}  q: quit`
    screen.show(drawScreen(snapshot, head, { ...screen.size(), ...look, now: io.now() }))
  }
  const screen = openFullScreen(() => draw())
  const ended = AbortSignal.any([io.signal, screen.quit])
  try {
    for (;;) {
      draw()
      await sleepFor(seconds * 1000, ended)
      try {
        snapshot = await readSnapshot(client, org, ended)
        lost = undefined
      } catch (error) {
        if (!mayComeBack(error)) throw error
        lost = error.message
      }
    }
  } catch (error) {
    const quit = screen.quit.aborted && error instanceof SvcError && error.exit === 'interrupted'
    if (!quit) throw error
  } finally {
    screen.close()
  }
}

/** `svc top`: pending requests, decisions, notifications, channels and nodes, live on a terminal. */
export const registerTop = defineCommand<{ once?: boolean; interval: string; org?: string }>({
  options: {
    '--once': 'Print it once and exit; through a pipe, all of it',
    '--interval <seconds>': { about: 'Seconds between two updates; default: 2', value: '2' },
    '--org <org>': 'Only requests and messages of this organization (id or slug)',
  },
  examples: ['svc top', 'svc top --once -o json'],
  scope: 'read; notifications also require notify, and nodes an operator key',
  action: async ({ options }, context) => {
    const seconds = readWhole('--interval', options.interval, 1, 9999)
    const { io, globals } = context
    const machine = wantsMachine(globals)
    const isLive = !options.once && !machine
    if (isLive && (!io.stdout.isTTY || !io.stdin.isTTY || io.env['TERM'] === 'dumb'))
      throw usageError('svc top requires a terminal', await context.command!.again({ plus: ['--once'] }))
    const org = options.org === undefined ? undefined : (await resolveOrg(options.org, context)).id
    const look = { colour: wantsColour(io.stdout, context), reveal: globals.reveal === true }
    if (isLive) return watchLive(context, { seconds, org }, look)
    const snapshot = await readSnapshot(await context.client(), org, io.signal)
    if (machine) return (await context.output()).report('Top', snapshot)
    const columns = io.stdout.isTTY ? io.stdout.columns : 100
    const { baseUrl } = await context.settings()
    const head = `${new URL(baseUrl.value).host}  ${clock.format(io.now())}`
    // The last line of the terminal is for its prompt.
    const rows = (io.stdout.isTTY && process.stdout.rows - 1) || Infinity
    const lines = drawScreen(snapshot, head, { ...look, columns, rows, now: io.now() })
    io.stdout.write(`${lines.join('\n')}\n`)
  },
})

import { Chalk, type ChalkInstance } from 'chalk'
import { secondsLeft, type Backend } from '../../asking/backend.ts'
import type { Progress } from '../../asking/progress.ts'
import type { ApprovalRecord } from '../../contract/approval.ts'
import { safeLine, safeText } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import { isRefused, isWithdrawn, withdrawnMark } from '../../contract/approval-state.ts'
import { becauseText, progressText } from '../../contract/line-progress.ts'
import { cutTo, widthOfText } from '../terminal/columns.ts'
import { withoutPhones } from '../terminal/mask-prose.ts'
import { wantsColour } from '../terminal/output.ts'
import { fitted } from '../terminal/wrap.ts'
import { answererText, approverText } from './approver-text.ts'

/** `1:05 left`, or `2:01:05 left` from an hour on; never below zero. Some services report the deadline only when the request is created. */
export const timeLeft = (seconds: number): string => {
  if (!Number.isFinite(seconds)) return 'deadline unknown'
  const left = Math.max(0, Math.ceil(seconds))
  const [hours, minutes] = [Math.floor(left / 3600), Math.floor(left / 60) % 60]
  const parts = hours > 0 ? [hours, minutes, left % 60] : [minutes, left % 60]
  return `${parts.map((part, at) => String(part).padStart(at === 0 ? 1 : 2, '0')).join(':')} left`
}

const skippedText = (count: number): string =>
  count === 1 ? '1 person whom the rules name is' : `${count} people whom the rules name are`

/** The approver and the id of the request. */
const describe = (record: ApprovalRecord, whole: boolean): string =>
  `${approverText(record, whole)} (${safeLine(record.request_id)})`

const ended: Record<ApprovalRecord['status'], string> = {
  approved: 'Approved by',
  denied: 'Denied by',
  expired: 'Expired, asked',
  pending: 'Still pending, asked',
}

const numberLine = (number: string): string => `Number to type on the phone: ${safeLine(number)}`

/** Reports the progress of a wait: a redrawn line on a terminal, plain lines elsewhere. */
export const createProgress = (
  { io, globals }: Pick<Context, 'io' | 'globals'>,
  clock: Pick<Backend, 'now'>,
): Progress => {
  const { stderr } = io
  const left = (record: ApprovalRecord): number => secondsLeft(record, clock)
  const warn = (text: string): void => stderr.write(`${fitted(safeText(text), stderr)}\n`)
  const prose = (text: string): string => safeLine(globals.reveal ? text : withoutPhones(text))

  const whole = globals.reveal === true
  let pending: ApprovalRecord | undefined
  let isCut = false
  let timer: NodeJS.Timeout | undefined
  const wipe = (): void => void (stderr.isTTY && timer && stderr.write('\r\x1b[K'))
  const draw = (): void => {
    if (!stderr.isTTY || !pending) return
    const time = timeLeft(left(pending))
    const state = isCut ? 'no connection; still waiting for' : 'waiting for'
    const several = isCut ? undefined : progressText(pending.lines)
    const names = [describe(pending, whole), approverText(pending, whole)]
    const room = Math.max(20, stderr.columns - 1)
    // Names may not fit, so they come last.
    const lines = (several ? [safeLine(several)] : names.map((who) => `${state} ${who}`)).map(
      (text) => `${time}; ${text}`,
    )
    // On a narrow terminal, drop the id first: the line above already shows it.
    const line = lines.find((one) => widthOfText(one) <= room) ?? lines.at(-1)!
    stderr.write(`\r\x1b[K${widthOfText(line) <= room ? line : `${cutTo(line, room - 1)}…`}`)
  }
  const chalk = new Chalk({ level: wantsColour(stderr, { io, globals }) ? 1 : 0 })
  /** `label`: the beginning of the text, which `paint` colours. */
  const say = (text: string, label = '', paint = chalk.bold): void => {
    wipe()
    stderr.write(`${paint(label)}${fitted(text, stderr).slice(label.length)}\n`)
    draw()
  }
  const follow = (record: ApprovalRecord): void => {
    // On a line of its own, which is never cut and stays above the status.
    if (record.number && record.number !== pending?.number) say(numberLine(record.number))
    pending = record
    if (!stderr.isTTY) return
    timer ??= setInterval(draw, 1000)
    draw()
  }
  const end = (): void => {
    pending = undefined
    clearInterval(timer)
    wipe()
    timer = undefined
  }

  const meaningOf = (record: ApprovalRecord): [string, ChalkInstance] => {
    const { status, granted_by } = record
    if (granted_by !== undefined) return ['Allowed earlier', chalk.green]
    if (isRefused(record)) return ['Refused', chalk.red]
    if (status === 'denied') return ['Denied', chalk.red]
    return status === 'approved' ? ['Approved', chalk.green] : ['', chalk.bold]
  }

  return {
    requested: (record) => {
      io.onAnswer?.(record)
      const because = becauseText(record.rules)
      const who = describe(record, whole) + (because === undefined ? '' : ` ${safeLine(because)}`)
      say(`Asked ${who}: ${prose(record.action)}`)
      if (record.break_glass)
        say(
          `Break-glass: ${skippedText(record.break_glass.skipped.length)} not asked; ${record.break_glass.told.length} people were told, including them`,
        )
      const quiet = record.lines?.flatMap(({ people }) => people.filter((one) => one.quiet)) ?? []
      const names = new Set(quiet.map(({ name }) => name))
      if (names.size > 0)
        say(safeLine(`Not notified (away, over a limit, or muted this requester): ${[...names].join(', ')}`))
      follow(record)
      if (!stderr.isTTY) say(`Waiting, ${timeLeft(left(record))}`)
    },
    waiting: (record) => {
      const before = progressText(pending?.lines)
      const now = progressText(record.lines)
      if (now !== undefined && now !== before && !stderr.isTTY) say(safeLine(now))
      follow(record)
    },
    lost: (record, error) => {
      isCut = true
      say(
        `${safeLine(error.message)}; still waiting for ${describe(record, whole)}, ${timeLeft(left(record))}`,
      )
    },
    reconnected: (record) => {
      isCut = false
      say(`Reconnected; ${describe(record, whole)} is ${safeLine(record.status)}`)
    },
    decided: (record) => {
      end()
      const withdrawn = isWithdrawn(record)
      const detail = record.detail && !withdrawn ? `: ${safeLine(record.detail)}` : ''
      const wrote = typeof record.note === 'string' && `, who wrote: ${safeLine(JSON.stringify(record.note))}`
      const how = withdrawn
        ? `Withdrawn${safeLine(record.detail!.slice(withdrawnMark.length))}, asked`
        : isRefused(record)
          ? 'Refused after the approval of'
          : ended[record.status]
      const who = `${how ?? `${safeLine(String(record.status))} by`} ${answererText(record, whole)}`
      const said = record.granted_by === undefined ? who : 'Allowed earlier, so nobody was asked'
      say(`${said} (${safeLine(record.request_id)})${wrote || detail}`, ...meaningOf(record))
    },
    warn: (text) => {
      wipe()
      warn(text)
      draw()
    },
    end,
  }
}

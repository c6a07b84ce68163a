import { secondsLeft, type Backend } from '../../asking/backend.ts'
import type { Progress } from '../../asking/progress.ts'
import type { ApprovalRecord } from '../../contract/approval.ts'
import { usageError } from '../../core/errors.ts'
import { safeJson, safeLine, safeText } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import type { Globals } from '../terminal/io.ts'
import { pickingFlag } from '../terminal/output.ts'
import { askedText, becauseText, progressOf, progressText } from '../../contract/line-progress.ts'
import { maskPhone } from '../terminal/mask.ts'
import { withoutPhones } from '../terminal/mask-prose.ts'
import { fitted } from '../terminal/wrap.ts'

/** `1:05 left`, or `2:01:05 left` from an hour on; never below zero. Some services report the deadline only when the request is created. */
export const timeLeft = (seconds: number): string => {
  if (!Number.isFinite(seconds)) return 'deadline unknown'
  const left = Math.max(0, Math.ceil(seconds))
  const [hours, minutes] = [Math.floor(left / 3600), Math.floor(left / 60) % 60]
  const parts = hours > 0 ? [hours, minutes, left % 60] : [minutes, left % 60]
  return `${parts.map((part, at) => String(part).padStart(at === 0 ? 1 : 2, '0')).join(':')} left`
}

/** A tool server may not name the approver of a request from another machine. */
const person = ({ approver_mobile, lines }: ApprovalRecord, whole: boolean): string => {
  if (lines && progressOf(lines)) return safeLine(askedText(lines))
  if (approver_mobile === '') return 'an unnamed approver'
  return safeLine(whole ? approver_mobile : maskPhone(approver_mobile))
}

/** Of several people, those whose answer ended the request. */
const whoEnded = (record: ApprovalRecord, whole: boolean): string => {
  const people = progressOf(record.lines) ? record.lines!.flatMap((line) => line.people) : []
  const names = people.filter(({ answer }) => answer === record.status).map(({ name }) => name)
  return names.length > 0 ? safeLine([...new Set(names)].join(' and ')) : person(record, whole)
}

/** The approver and the id of the request. */
const describe = (record: ApprovalRecord, whole: boolean): string =>
  `${person(record, whole)} (${safeLine(record.request_id)})`

const ended: Record<ApprovalRecord['status'], string> = {
  approved: 'Approved by',
  denied: 'Denied by',
  expired: 'Expired, asked',
  pending: 'Still pending, asked',
}

/** Events on stdout, one JSON document a line. */
const createEvents = (
  write: (text: string) => void,
  left: (record: ApprovalRecord) => number,
): Omit<Progress, 'warn'> => {
  const emit = (event: string, fields: object): void =>
    write(`${safeJson(Object.assign({ event }, fields, { event }))}\n`)
  const named = (record: ApprovalRecord) => {
    const seconds = left(record)
    return {
      request_id: record.request_id,
      seconds_left: Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : null,
    }
  }
  return {
    requested: (record) =>
      emit('requested', { ...named(record), number: record.number, expires_at: record.expires_at }),
    waiting: (record) => emit('waiting', named(record)),
    lost: (record, { code, message }) => emit('disconnected', { ...named(record), code, message }),
    reconnected: (record) => emit('reconnected', named(record)),
    decided: (record) => emit('decided', record),
    end: () => undefined,
  }
}

/** Rejects flags that select fields: events are always printed whole. */
export const checkEvents = (globals: Globals): void => {
  const picking = pickingFlag(globals)
  if (globals.output === 'ndjson' && picking)
    throw usageError(`-o ndjson prints events; ${picking} does not apply to them`, 'Remove -o')
}

/** Reports the progress of a wait: a redrawn line on a terminal, plain lines elsewhere, events with -o ndjson. */
export const createProgress = (
  { io, globals }: Pick<Context, 'io' | 'globals'>,
  clock: Pick<Backend, 'now'>,
): Progress => {
  const { stderr, stdout } = io
  const left = (record: ApprovalRecord): number => secondsLeft(record, clock)
  const warn = (text: string): void => stderr.write(`${fitted(safeText(text), stderr)}\n`)
  const prose = (text: string): string => safeLine(globals.reveal ? text : withoutPhones(text))
  if (globals.output === 'ndjson') return { ...createEvents((text) => stdout.write(text), left), warn }

  const whole = globals.reveal === true
  const pending = new Map<string, ApprovalRecord>()
  const cut = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  const wipe = (): void => void (stderr.isTTY && timer && stderr.write('\r\x1b[K'))
  const draw = (): void => {
    const all = [...pending.values()]
    const [first] = all
    if (!stderr.isTTY || !first) return
    const number = all.length === 1 && first.number ? ` Number to type: ${safeLine(first.number)}.` : ''
    const state = cut.size > 0 ? 'No connection; still waiting for' : 'Waiting for'
    const time = timeLeft(Math.min(...all.map(left)))
    const several = all.length === 1 && cut.size === 0 ? progressText(first.lines) : undefined
    const names =
      all.length === 1 ? [describe(first, whole), person(first, whole)] : [`${all.length} requests`]
    const room = Math.max(20, stderr.columns - 1)
    const lines = several
      ? [`${safeLine(several)}, ${time}.${number}`]
      : names.map((who) => `${state} ${who}, ${time}.${number}`)
    // On a narrow terminal, drop the id first: the line above already shows it.
    stderr.write(`\r\x1b[K${(lines.find((line) => line.length <= room) ?? lines.at(-1)!).slice(0, room)}`)
  }
  const say = (text: string): void => {
    wipe()
    stderr.write(`${text}\n`)
    draw()
  }
  const follow = (record: ApprovalRecord): void => {
    pending.set(record.request_id, record)
    if (!stderr.isTTY) return
    timer ??= setInterval(draw, 1000)
    draw()
  }
  const leave = ({ request_id }: ApprovalRecord): void => {
    pending.delete(request_id)
    if (pending.size > 0 || !timer) return
    clearInterval(timer)
    wipe()
    timer = undefined
  }

  return {
    requested: (record) => {
      io.onAnswer?.(record)
      const because = becauseText(record.rules)
      const who = describe(record, whole) + (because === undefined ? '' : ` ${safeLine(because)}`)
      say(`Asked ${who}: ${prose(record.action)}`)
      if (record.number) say(`Number to type on the phone: ${safeLine(record.number)}`)
      if (!stderr.isTTY) say(`Waiting, ${timeLeft(left(record))}`)
      follow(record)
    },
    waiting: (record) => {
      const before = progressText(pending.get(record.request_id)?.lines)
      const now = progressText(record.lines)
      if (now !== undefined && now !== before && !stderr.isTTY) say(safeLine(now))
      follow(record)
    },
    lost: (record, error) => {
      cut.add(record.request_id)
      say(
        `${safeLine(error.message)}; still waiting for ${describe(record, whole)}, ${timeLeft(left(record))}`,
      )
    },
    reconnected: (record) => {
      cut.delete(record.request_id)
      say(`Reconnected; ${describe(record, whole)} is ${safeLine(record.status)}`)
    },
    decided: (record) => {
      leave(record)
      const detail = record.detail ? `: ${safeLine(record.detail)}` : ''
      const wrote = typeof record.note === 'string' && `, who wrote: ${safeLine(JSON.stringify(record.note))}`
      say(
        `${ended[record.status] ?? `${safeLine(String(record.status))} by`} ${whoEnded(record, whole)} (${safeLine(record.request_id)})${wrote || detail}`,
      )
    },
    warn: (text) => {
      wipe()
      warn(text)
      draw()
    },
    end: () => {
      for (const record of pending.values()) leave(record)
    },
  }
}

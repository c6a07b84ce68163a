import { Chalk } from 'chalk'
import { safeLine } from '../../core/safe-text.ts'
import { maskFields } from '../terminal/mask.ts'
import { leaveOut } from '../terminal/columns.ts'
import { cellText } from '../terminal/payload.ts'
import { holdsTime, relativeTime } from '../terminal/relative-time.ts'
import { drawTable } from '../terminal/table.ts'
import type { Panel, Snapshot } from './panels.ts'

export type Look = { columns: number; rows: number; colour: boolean; now: Date; reveal: boolean }

type Part = {
  name: keyof Snapshot
  title: string
  columns: string[]
  /** Columns that a narrow terminal leaves out, the first one first. */
  wide?: string[]
}

const parts: Part[] = [
  {
    name: 'pending',
    title: 'Pending',
    columns: ['request_id', 'expires_at', 'approver_mobile', 'detail', 'verified_as', 'action'],
    wide: ['verified_as', 'detail'],
  },
  {
    name: 'decisions',
    title: 'Decided',
    columns: ['request_id', 'status', 'decided_at', 'approver_mobile', 'action'],
  },
  {
    name: 'messages',
    title: 'Notifications',
    columns: ['created_at', 'channel', 'kind', 'state', 'recipient', 'error'],
    wide: ['kind'],
  },
  { name: 'channels', title: 'Channels', columns: ['channel', 'ready', 'waiting', 'given_up'] },
  { name: 'nodes', title: 'Nodes', columns: ['address', 'state', 'version', 'lag_s', 'requests', 'waiting'] },
]
const personal = new Set(['approver_mobile'])

const cell = (field: string, value: unknown, now: Date): string =>
  typeof value === 'string' && holdsTime(field) ? relativeTime(value, now) : cellText(value)

/** The lines of one panel: a title, and below it the table or why there is none. */
const linesOf = (panel: Panel, { title, columns, wide }: Part, look: Look): string[] => {
  const chalk = new Chalk({ level: look.colour ? 1 : 0 })
  const cut = (text: string): string => safeLine(text).slice(0, look.columns)
  if ('missing' in panel) return [chalk.bold(title), chalk.yellow(cut(panel.missing))]
  if (panel.rows.length === 0) return [chalk.bold(title), chalk.dim('none')]
  const rows = panel.rows.map((row) => (look.reveal ? row : (maskFields(row, personal) as typeof row)))
  const lines = rows.map((row) => columns.map((field) => cell(field, row[field], look.now)))
  const grid = leaveOut({ head: columns, lines }, { width: look.columns, wide })
  const table = drawTable(grid, { width: look.columns, colour: look.colour })
  return [chalk.bold(`${title} (${rows.length})`), ...table.split('\n')]
}

/** Divides the room: each panel gets two lines, then one line at a time goes to those that have more. */
const share = (wanted: readonly number[], room: number): number[] => {
  const given = wanted.map((lines) => Math.min(lines, 2))
  let left = room - given.reduce((sum, lines) => sum + lines, 0)
  for (let at = 0; left > 0 && given.some((lines, i) => lines < wanted[i]!); at = (at + 1) % given.length) {
    if (given[at]! >= wanted[at]!) continue
    given[at]! += 1
    left -= 1
  }
  return given
}

/** The whole screen; with `rows: Infinity`, everything. */
export const drawScreen = (snapshot: Snapshot, head: string, look: Look): string[] => {
  const blocks = parts.map((part) => linesOf(snapshot[part.name], part, look))
  const heights = share(
    blocks.map(({ length }) => length),
    look.rows - 1,
  )
  const body = blocks.flatMap((lines, i) => lines.slice(0, heights[i]))
  return [safeLine(head).slice(0, look.columns), ...body].slice(0, look.rows)
}

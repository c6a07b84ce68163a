import { Chalk } from 'chalk'
import type { ApprovalRecord } from '../../contract/approval.ts'
import { safeLine } from '../../core/safe-text.ts'
import { answererText, approverText } from '../approve/approver-text.ts'
import { headlineOf, statusText } from '../approve/request-cells.ts'
import { leaveOut, leftOut } from '../terminal/columns.ts'
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
    columns: ['request_id', 'expires_at', 'approver', 'detail', 'verified_as', 'action'],
    wide: ['detail', 'approver'],
  },
  {
    name: 'decisions',
    title: 'Decided',
    columns: ['request_id', 'status', 'decided_at', 'approver', 'action'],
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
type Row = Record<string, unknown>

const computed: Record<string, (row: Row, look: Look) => string> = {
  action: headlineOf,
  status: statusText,
  approver: (row, { reveal }) =>
    (row['status'] === 'pending' ? approverText : answererText)(row as ApprovalRecord, reveal),
}

const cell = (row: Row, field: string, look: Look): string => {
  const value = computed[field]?.(row, look) ?? row[field]
  return typeof value === 'string' && holdsTime(field) ? relativeTime(value, look.now) : cellText(value)
}

/** The lines of one panel: a title, and below it the table or why there is none. */
const linesOf = (panel: Panel, { title, columns, wide }: Part, look: Look): string[] => {
  const chalk = new Chalk({ level: look.colour ? 1 : 0 })
  const cut = (text: string): string => safeLine(text).slice(0, look.columns)
  if ('missing' in panel) return [chalk.bold(title), chalk.yellow(cut(panel.missing))]
  if (panel.rows.length === 0) return [chalk.bold(title), chalk.dim('none')]
  const lines = panel.rows.map((row) => columns.map((field) => cell(row, field, look)))
  const whole = { head: columns, lines }
  const grid = leaveOut(whole, { width: look.columns, wide })
  const missing = leftOut(whole, grid)
  const without = missing.length > 0 ? `, without ${missing.join(', ')}` : ''
  const table = drawTable(grid, { width: look.columns, colour: look.colour })
  return [chalk.bold(cut(`${title} (${panel.rows.length})${without}`)), ...table.split('\n')]
}

/** Of a panel: its title, the heads of its columns, a row, and how many more there are. */
const leastLines = 4
const least = (lines: readonly string[]): number => Math.min(lines.length, leastLines)

/** The whole screen; with `rows: Infinity`, everything. */
export const drawScreen = (snapshot: Snapshot, head: string, look: Look): string[] => {
  const blocks = parts.map((part) => linesOf(snapshot[part.name], part, look))
  // A panel may be longer by what those above and the least of those below leave.
  let left = look.rows - 1
  let below = blocks.reduce((sum, lines) => sum + least(lines), 0)
  const chalk = new Chalk({ level: look.colour ? 1 : 0 })
  const body = blocks.flatMap((lines) => {
    below -= least(lines)
    const room = Math.max(left - below, least(lines))
    const more = lines.length - room
    if (more > 0) lines.splice(room - 1, Infinity, chalk.dim(`${more + 1} more`))
    left -= lines.length
    return lines
  })
  return [safeLine(head).slice(0, look.columns), ...body].slice(0, look.rows)
}

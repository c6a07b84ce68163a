import { Chalk } from 'chalk'
import Table from 'cli-table3'
import stringWidth from 'string-width'
import { safeLine } from '../../core/safe-text.ts'
import type { Grid } from './grid.ts'

const gap = '  '

/** Widths that fit into `room`: the widest column gives first, and columns for which nothing is left are cut off. */
const fit = (natural: readonly number[], room: number): number[] => {
  const most = Math.max(1, Math.floor((room + gap.length) / (gap.length + 1)))
  const widths = natural.slice(0, most).map((width) => Math.min(width, room))
  let over = widths.reduce((sum, width) => sum + width + gap.length, -gap.length) - room
  while (over-- > 0) widths[widths.indexOf(Math.max(...widths))]! -= 1
  return widths
}

/** The names that cli-table3 gives to the pieces of its frame; all but the gap between columns stay away. */
const frame =
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid'
const borderless = { ...Object.fromEntries(frame.split(' ').map((piece) => [piece, ''])), middle: gap }

const draw = (lines: string[][], widths: number[]): string[] => {
  const table = new Table({
    chars: borderless,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
    colWidths: widths,
    truncate: '…',
  })
  table.push(...lines.map((line) => line.slice(0, widths.length)))
  return table.toString().split('\n')
}

/**
 * A table without borders, for people: aligned by display width, a list cut to the width of the terminal and never
 * wrapped. A record is never cut: a new key that lost its end would be lost.
 */
export const drawTable = (grid: Grid, { width, colour }: { width: number; colour: boolean }): string => {
  const chalk = new Chalk({ level: colour ? 1 : 0 })
  const lines = grid.lines.map((line) => line.map((text) => (text === '' ? '-' : safeLine(text))))
  if (!grid.head) {
    const names = Math.max(0, ...lines.map(([name, value]) => (value === undefined ? 0 : stringWidth(name!))))
    return lines
      .map(([name, value]) => {
        if (value === undefined) return name
        return chalk.dim(name) + ' '.repeat(names - stringWidth(name!)) + gap + value
      })
      .join('\n')
  }
  const all = [grid.head.map((name) => safeLine(name.toUpperCase())), ...lines]
  const natural = all[0]!.map((_, i) => Math.max(1, ...all.map((line) => stringWidth(line[i]!))))
  const [head, ...body] = draw(all, fit(natural, width)).map((line) => line.trimEnd())
  return [chalk.dim(head), ...body].join('\n')
}

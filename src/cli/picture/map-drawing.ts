import { safeText } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import { drawTable } from '../terminal/table.ts'
import { fenceGrid, type DrawnFence } from './fences.ts'
import {
  edgeOf,
  lengthText,
  placeText,
  roundLength,
  viewOf,
  type CheckedPoint,
  type Circle,
  type Point,
  type View,
} from './projection.ts'
import { createLabels } from './label-placement.ts'
import { colorsFor } from './picture-output.ts'

// The bit of each dot of a braille character, by column and row.
const bits = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const

/** A drawing in text: dots (two columns and four rows in each character), and words over them. */
export type Canvas = {
  /** In dots from the top left. A dot outside the canvas is ignored. */
  dot(x: number, y: number): void
  /** In characters from the top left. */
  write(column: number, row: number, text: string, paint?: (text: string) => string): void
  lines(): string[]
}

export const createCanvas = (columns: number, rows: number): Canvas => {
  const dots = Array.from({ length: rows }, () => new Uint8Array(columns))
  const words = new Map<string, string>()
  const cell = (column: number, row: number): string => {
    const dotted = dots[row]![column]!
    return words.get(`${column},${row}`) ?? (dotted === 0 ? ' ' : String.fromCodePoint(0x2800 + dotted))
  }
  return {
    dot: (x, y) => {
      const [column, row] = [Math.floor(x / 2), Math.floor(y / 4)]
      if (column < 0 || row < 0 || column >= columns || row >= rows) return
      dots[row]![column]! |= bits[Math.floor(x) & 1]![Math.floor(y) & 3]!
    },
    write: (column, row, text, paint = (plain) => plain) => {
      for (const [i, char] of [...text].entries()) words.set(`${column + i},${row}`, paint(char))
    },
    lines: () =>
      dots.map((_, row) => Array.from({ length: columns }, (_, column) => cell(column, row)).join('')),
  }
}

type Paint = (text: string) => string
export type Colors = { active: Paint; inactive: Paint; point: Paint }
/** `lines`: the map with its frame and scale. `hidden`: marks that did not fit. */
export type MapDrawing = { lines: string[]; hidden: Set<string> }

const leastRows = 8
/** Fits a terminal of 80 by 24. */
const rowsOfWidth = 0.3
/** Dots between the outermost geofence and the frame. */
const margin = { x: 4, y: 4 }

type Scale = { columns: number; rows: number; metresPerDot: number; dotOf: (point: Point) => Point }

const scaleOf = ({ left, right, bottom, top }: View, columns: number): Scale => {
  const most = Math.max(leastRows, Math.round(columns * rowsOfWidth))
  const metresPerDot = Math.max(
    (right - left) / (2 * columns - 2 * margin.x),
    (top - bottom) / (4 * most - 2 * margin.y),
  )
  const needed = Math.ceil(((top - bottom) / metresPerDot + 2 * margin.y) / 4)
  const rows = Math.min(most, Math.max(leastRows, needed))
  const [middleX, middleY] = [(left + right) / 2, (bottom + top) / 2]
  return {
    columns,
    rows,
    metresPerDot,
    dotOf: ([x, y]) => [columns + (x - middleX) / metresPerDot, 2 * rows - (y - middleY) / metresPerDot],
  }
}

/** `every`: 1 draws a line, more a dotted one. */
const drawCircle = (canvas: Canvas, circle: Circle, view: View, scale: Scale, every: number): void => {
  const round = (2 * Math.PI * circle.radius) / scale.metresPerDot
  const count = Math.min(20_000, Math.max(8, Math.ceil((round * 1.5) / every)))
  for (const place of edgeOf(circle, count)) canvas.dot(...scale.dotOf(view.projection.pointOn(place)))
}

/** Each geofence as its mark and its edge, north up; `@` is the checked point. Requires at least one geofence. */
export const drawMap = (
  fences: readonly DrawnFence[],
  point: CheckedPoint | undefined,
  { width, colors }: { width: number; colors: Colors },
): MapDrawing => {
  const view = viewOf(fences, point)
  const scale = scaleOf(view, width - 2)
  const canvas = createCanvas(scale.columns, scale.rows)
  const labels = createLabels(scale.columns, scale.rows)
  const write = (mark: string, at: Point, reach: number, paint: Paint): boolean => {
    const [x, y] = scale.dotOf(at)
    const left = Math.floor(x / 2) - Math.floor((mark.length - 1) / 2)
    // One column wider, so that two marks never read as one.
    const box = labels.place({ x: left, y: Math.floor(y / 4), width: mark.length + 1, height: 1 }, reach)
    if (box) canvas.write(box.x, box.y, mark, paint)
    return box !== undefined
  }

  for (const fence of fences) drawCircle(canvas, fence, view, scale, fence.active ? 1 : 5)
  if (point) {
    if (point.accuracy > 0) drawCircle(canvas, { ...point, radius: point.accuracy }, view, scale, 3)
    write('@', view.projection.pointOn(point), 0, colors.point)
  }
  const hidden = new Set<string>()
  // Small ones first: a large one has more room for its mark.
  for (const fence of fences.toSorted((a, b) => a.radius - b.radius)) {
    const inside = fence.radius / scale.metresPerDot > 12 ? 2 : 1
    const paint = fence.active ? colors.active : colors.inactive
    if (!write(fence.mark, view.projection.pointOn(fence), inside, paint)) hidden.add(fence.mark)
  }
  return { lines: framed(canvas, view, scale), hidden }
}

const framed = (canvas: Canvas, view: View, { columns, metresPerDot }: Scale): string[] => {
  const length = roundLength((columns * 2 * metresPerDot) / 4)
  const bar = '─'.repeat(Math.max(0, Math.round(length / metresPerDot / 2) - 2))
  return [
    `┌${'─'.repeat(columns - 6)} N ^ ─┐`,
    ...canvas.lines().map((line) => `│${line}│`),
    `└${'─'.repeat(columns)}┘`,
    `  ├${bar}┤ ${lengthText(length)}    middle ${placeText(view.projection.centre, length >= 50_000 ? 1 : 5)}`,
  ]
}

type MapText = {
  fences: readonly DrawnFence[]
  point: CheckedPoint | undefined
  verdict: { passes: boolean; text: string } | undefined
  /** In columns. */
  width: number
}

/** The map, the verdict on the point, and a table of the geofences. */
export const mapText = (
  { fences, point, verdict, width }: MapText,
  context: Pick<Context, 'io' | 'globals'>,
): string => {
  const paint = colorsFor(context)
  const result = verdict ? [`@ ${safeText(verdict.text)}`, ''] : []
  if (fences.length === 0) return `${['No geofences.', ...result.slice(0, 1)].join('\n')}\n`
  const { lines, hidden } = drawMap(fences, point, {
    width,
    colors: {
      active: paint.bold,
      inactive: paint.dim,
      point: verdict?.passes === false ? paint.red.bold : paint.green.bold,
    },
  })
  const grid = fenceGrid(fences, [' ', 'to @'], ({ mark }) => (hidden.has(mark) ? `(${mark})` : mark))
  const table = drawTable(grid, {
    width: context.io.stdout.isTTY ? width : Infinity,
    colour: paint.level > 0,
  })
  const notes = [
    ...(fences.some(({ active }) => !active) ? ['Dotted with small letters: inactive.'] : []),
    ...(hidden.size > 0 ? ['In brackets: no room on the map.'] : []),
  ]
  return `${[...lines, '', ...result, table, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n')}\n`
}

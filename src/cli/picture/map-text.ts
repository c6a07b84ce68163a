import { safeText } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import { drawTable } from '../terminal/table.ts'
import type { CheckedPoint, DrawnFence } from './fences.ts'
import { drawMap } from './map-drawing.ts'
import { colorsFor } from './colors.ts'
import { lengthText, placeText } from './view.ts'

/** What the rules say of a place. */
export type PointVerdict = { passes: boolean; text: string }

type MapText = {
  fences: readonly DrawnFence[]
  point: CheckedPoint | undefined
  verdict: PointVerdict | undefined
  /** In columns. */
  width: number
}

/** The map, what the rules say of the point, and every fence in a table. */
export const mapText = (
  { fences, point, verdict, width }: MapText,
  context: Pick<Context, 'io' | 'globals'>,
): string => {
  const paint = colorsFor(context)
  const said = verdict ? [`@ ${safeText(verdict.text)}`] : []
  if (fences.length === 0) return `${['No geo-fences.', ...said].join('\n')}\n`
  const here = verdict?.passes === false ? paint.red.bold : paint.green.bold
  const { lines, hidden } = drawMap(fences, point, {
    width,
    colors: { active: paint.bold, inactive: paint.dim, point: here },
  })
  const levels = new Set(fences.map(({ of }) => of)).size > 1
  const grid = {
    head: [' ', 'name', ...(levels ? ['of'] : []), 'radius', 'centre', 'active', ...(point ? ['to @'] : [])],
    lines: fences.map((fence) => [
      hidden.has(fence.mark) ? `(${fence.mark})` : fence.mark,
      fence.name,
      ...(levels ? [fence.of] : []),
      lengthText(fence.radius),
      placeText(fence),
      fence.active ? 'yes' : 'no',
      ...(point ? [lengthText(fence.distance!)] : []),
    ]),
  }
  const notes = [
    ...(fences.some(({ active }) => !active) ? ['Dotted, small letters: not active.'] : []),
    ...(hidden.size > 0 ? ['In brackets: no room on the map.'] : []),
  ]
  const table = drawTable(grid, {
    width: context.io.stdout.isTTY ? width : Infinity,
    colour: paint.level > 0,
  })
  return `${[...lines, '', ...(said.length > 0 ? [...said, ''] : []), table, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n')}\n`
}

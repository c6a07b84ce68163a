import type { CheckedPoint } from './fences.ts'
import { edgeOf, middleOf, projectionAt, type Circle, type Place, type Projection } from './projection.ts'

/** What a map shows: the Earth laid flat, and the box (metres) that holds all fences whole and the checked point. */
export type View = { projection: Projection; left: number; right: number; bottom: number; top: number }

const extreme = (numbers: readonly number[], of: (a: number, b: number) => number): number =>
  numbers.reduce((a, b) => of(a, b))

/** At least one circle is needed. */
export const viewOf = (circles: readonly Circle[], point: CheckedPoint | undefined): View => {
  const projection = projectionAt(middleOf(point ? [...circles, point] : circles))
  const spots = [...circles.flatMap((circle) => edgeOf(circle, 36)), ...(point ? [point] : [])].map(
    projection.pointOn,
  )
  const [xs, ys] = [spots.map(([x]) => x), spots.map(([, y]) => y)]
  return {
    projection,
    left: extreme(xs, Math.min),
    right: extreme(xs, Math.max),
    bottom: extreme(ys, Math.min),
    top: extreme(ys, Math.max),
  }
}

/** The longest of 1, 2, 5, 10, 20 … that is no longer than this. */
export const roundLength = (most: number): number => {
  const power = 10 ** Math.floor(Math.log10(most))
  return [5, 2, 1].find((step) => step * power <= most)! * power
}

/** `850 m`, `2.5 km`, `1,200 km`. */
export const lengthText = (metres: number): string => {
  if (metres < 1000) return `${Number(metres.toPrecision(3))} m`
  const digits = metres < 100_000 ? 1 : 0
  return `${(metres / 1000).toLocaleString('en', { maximumFractionDigits: digits })} km`
}

/** Degrees, to the metre; `digits`: fewer where a map shows a large part of the Earth. */
export const placeText = ({ latitude, longitude }: Place, digits = 5): string =>
  `${latitude.toFixed(digits)}, ${longitude.toFixed(digits)}`

/** A box around a label: its top left corner and its size. */
type Box = { x: number; y: number; width: number; height: number }

const overlap = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

/** Offsets in boxes, nearest first: the place itself, then the boxes around it. */
const offsets = (reach: number): [number, number][] => {
  const steps = Array.from({ length: 2 * reach + 1 }, (_, i) => i - reach)
  return steps
    .flatMap((down) => steps.map((right): [number, number] => [right, down]))
    .sort((a, b) => Math.hypot(...a) - Math.hypot(...b) || b[0] - a[0] || a[1] - b[1])
}

/** Places labels in a picture so that none covers another. */
export const createLabels = (width: number, height: number) => {
  const taken: Box[] = []
  const isFree = (box: Box): boolean =>
    box.x >= 0 &&
    box.y >= 0 &&
    box.x + box.width <= width &&
    box.y + box.height <= height &&
    !taken.some((one) => overlap(one, box))
  return {
    /** Where the label fits, at most `reach` boxes from where it belongs; undefined if there is no room. */
    place: (label: Box, reach: number): Box | undefined => {
      const { x, y, width: wide, height: high } = label
      const box = offsets(reach)
        .map(([right, down]) => ({ x: x + right * wide, y: y + down * high, width: wide, height: high }))
        .find(isFree)
      if (box) taken.push(box)
      return box
    },
  }
}

/** A box in which a word stands: its top left and its size. */
type Box = { x: number; y: number; width: number; height: number }

const overlap = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

/** Where to look for room, nearest first: the place itself, then rings of boxes around it. */
const around = (reach: number): [number, number][] =>
  Array.from({ length: (2 * reach + 1) ** 2 }, (_, i): [number, number] => [
    (i % (2 * reach + 1)) - reach,
    Math.floor(i / (2 * reach + 1)) - reach,
  ]).sort((a, b) => Math.hypot(...a) - Math.hypot(...b) || b[0] - a[0] || a[1] - b[1])

/** Finds room for words in a picture, so that none lies over another. Without room, undefined. */
export const createLabels = (width: number, height: number) => {
  const taken: Box[] = []
  const isFree = (box: Box): boolean =>
    box.x >= 0 &&
    box.y >= 0 &&
    box.x + box.width <= width &&
    box.y + box.height <= height &&
    !taken.some((one) => overlap(one, box))
  return {
    /** `reach`: how many boxes away from the middle `x`, `y` the word may stand. */
    place: (word: Box, reach: number): Box | undefined => {
      const offset = around(reach).find(([right, down]) =>
        isFree({ ...word, x: word.x + right * word.width, y: word.y + down * word.height }),
      )
      if (!offset) return undefined
      const box = { ...word, x: word.x + offset[0] * word.width, y: word.y + offset[1] * word.height }
      taken.push(box)
      return box
    },
  }
}

import { encode } from 'uqr'

/** A QR code as the path of an SVG with one unit for each module, with the empty border that a scanner needs. */
export const modulesOf = (text: string): { size: number; path: string } => {
  const { data, size } = encode(text, { border: 4, ecc: 'L' })
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])))
  return { size, path: path.join('') }
}

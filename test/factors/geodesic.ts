const a = 6_378_137
const f = 1 / 298.257_223_563
const b = a * (1 - f)

/** Metres along the WGS84 ellipsoid by Vincenty's inverse formula, independent of the code under test. */
export const geodesic = (lat1: number, lon1: number, lat2: number, lon2: number): number => {
  const rad = Math.PI / 180
  const L = (lon2 - lon1) * rad
  const [u1, u2] = [Math.atan((1 - f) * Math.tan(lat1 * rad)), Math.atan((1 - f) * Math.tan(lat2 * rad))]
  const [sinU1, cosU1, sinU2, cosU2] = [Math.sin(u1), Math.cos(u1), Math.sin(u2), Math.cos(u2)]
  let lambda = L
  for (let i = 0; i < 200; i++) {
    const [sinL, cosL] = [Math.sin(lambda), Math.cos(lambda)]
    const sinS = Math.sqrt((cosU2 * sinL) ** 2 + (cosU1 * sinU2 - sinU1 * cosU2 * cosL) ** 2)
    if (sinS === 0) return 0
    const cosS = sinU1 * sinU2 + cosU1 * cosU2 * cosL
    const s = Math.atan2(sinS, cosS)
    const sinA = (cosU1 * cosU2 * sinL) / sinS
    const cos2A = 1 - sinA ** 2
    const cos2M = cos2A === 0 ? 0 : cosS - (2 * sinU1 * sinU2) / cos2A
    const C = (f / 16) * cos2A * (4 + f * (4 - 3 * cos2A))
    const before = lambda
    lambda = L + (1 - C) * f * sinA * (s + C * sinS * (cos2M + C * cosS * (2 * cos2M ** 2 - 1)))
    if (Math.abs(lambda - before) > 1e-13) continue
    const uu = (cos2A * (a ** 2 - b ** 2)) / b ** 2
    const A = 1 + (uu / 16384) * (4096 + uu * (-768 + uu * (320 - 175 * uu)))
    const B = (uu / 1024) * (256 + uu * (-128 + uu * (74 - 47 * uu)))
    const cubic = (B / 6) * cos2M * (4 * sinS ** 2 - 3) * (4 * cos2M ** 2 - 3)
    const delta = B * sinS * (cos2M + (B / 4) * (cosS * (2 * cos2M ** 2 - 1) - cubic))
    return b * A * (s - delta)
  }
  throw new Error('does not converge')
}

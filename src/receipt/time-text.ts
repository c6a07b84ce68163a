/** Seconds by which the clocks of a node and of its store can differ. */
export const skew = 5

/**
 * A time as text in whole seconds, as a receipt counts its decision: beside milliseconds, a decision would seem to be
 * before its request. Beyond the calendar, the number.
 */
export const timeText = (seconds: number): string => {
  const at = new Date(Math.floor(seconds) * 1000)
  return Number.isNaN(at.getTime()) ? String(seconds) : at.toISOString().replace('.000Z', 'Z')
}

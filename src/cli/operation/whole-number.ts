import { usageError } from '../../core/errors.ts'

/** The value of a flag that takes a whole number. */
export const readWhole = (flag: string, text: string, least: number, most: number): number => {
  if (/^\d{1,6}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text)
  throw usageError(
    `${flag} must be a whole number from ${least} to ${most}, not "${text}"`,
    `${flag} ${least}`,
  )
}

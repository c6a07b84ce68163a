import { compileLevel } from '../../src/factors/level.ts'
import type { Slot } from '../../src/factors/slot.ts'
import { checkTime } from '../../src/factors/time.ts'

export const workdays = ['mon', 'tue', 'wed', 'thu', 'fri'] as const
export const slot = (change: Partial<Slot> = {}): Slot => ({
  name: 'Office hours',
  days: workdays,
  start: '09:00',
  end: '17:30',
  timezone: 'Europe/Berlin',
  ...change,
})
const level = (...slots: Slot[]) => compileLevel({ fences: [], slots })
export const check = (at: unknown, organization: Slot[] = [slot()], user: Slot[] = []) =>
  checkTime({ organization: level(...organization), user: level(...user) }, at)
export const open = (at: string, ...slots: Slot[]) => check(at, slots).result === 'PASS'

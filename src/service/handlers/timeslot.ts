import type { timeslot } from '../../contract/timeslot.ts'
import type { Handlers } from '../call/call.ts'
import {
  addTimeslot,
  checkTimeslot,
  deleteTimeslot,
  listTimeslots,
  listUserTimeslots,
  setUserTimeslots,
  updateTimeslot,
} from '../policy/timeslots.ts'

export const timeslotHandlers: Handlers<typeof timeslot> = {
  listTimeslots,
  addTimeslot,
  updateTimeslot,
  deleteTimeslot,
  listUserTimeslots,
  setUserTimeslots,
  checkTimeslot,
}

import type { geofence } from '../../contract/geofence.ts'
import type { Handlers } from '../call/call.ts'
import {
  checkGeofence,
  createGeofence,
  deleteGeofence,
  getGeofence,
  listGeofences,
  listUserGeofences,
  setUserGeofences,
  updateGeofence,
} from '../policy/geofences.ts'

export const geofenceHandlers: Handlers<typeof geofence> = {
  listGeofences,
  getGeofence,
  createGeofence,
  updateGeofence,
  deleteGeofence,
  listUserGeofences,
  setUserGeofences,
  checkGeofence,
}

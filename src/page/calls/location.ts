import type { device } from '../../contract/device.ts'
import type { Input } from '../../contract/operation.ts'

const patienceMs = 10_000
const oldestMs = 15_000

/** The location of the phone; undefined if the phone does not report it. */
export const locate = (): Promise<Input<typeof device.decideApproval>['location']> =>
  new Promise((resolve) => {
    if (!('geolocation' in navigator)) return resolve(undefined)
    navigator.geolocation.getCurrentPosition(
      ({ coords, timestamp }) =>
        resolve({
          latitude: coords.latitude,
          longitude: coords.longitude,
          accuracy_m: coords.accuracy,
          age_ms: Math.max(0, Date.now() - timestamp),
        }),
      () => resolve(undefined),
      { enableHighAccuracy: true, timeout: patienceMs, maximumAge: oldestMs },
    )
  })

/** Whether the phone reports its location: `prompt` asks its owner first. */
export const locationState = async (): Promise<PermissionState> => {
  if (!('geolocation' in navigator)) return 'denied'
  try {
    return (await navigator.permissions.query({ name: 'geolocation' })).state
  } catch {
    return 'prompt'
  }
}

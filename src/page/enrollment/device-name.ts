import type { Enrollment } from '../calls/api.ts'
import type { Answer, Place } from '../calls/webauthn.ts'
import { t, withoutIsolates } from '../language/text.ts'
import { deviceModel, isAndroid, isComputer } from '../shell/browser.ts'

/** The service accepts no longer name. */
const longest = 60

/** Two devices of one kind get different names: "Ada’s iPhone" and "Ada’s iPhone 2". */
const unlike = (name: string, taken: readonly string[]): string => {
  for (let n = 1; ; n += 1) {
    const end = n === 1 ? '' : ` ${n}`
    const free = name.slice(0, longest - end.length) + end
    if (!taken.includes(free)) return free
  }
}

const ofPerson = (device: string, { first_name: name, device_names: taken }: Enrollment): string =>
  unlike(withoutIsolates(name ? t('enrollment.deviceOf', { device, name }) : device), taken)

/** A name for this device, such as "Ada’s Pixel 9". */
export const suggestedName = async (enrollment: Enrollment): Promise<string> => {
  const kind = isComputer ? 'computer' : isAndroid ? 'android' : 'other'
  return ofPerson((await deviceModel()) ?? t('enrollment.deviceKind', { kind }), enrollment)
}

/** The name of a key that is not on this device, unless the person has typed one. */
export const nameOfKey = (
  typed: string,
  {
    suggested,
    enrollment,
    place,
    made,
  }: { suggested: string; enrollment: Enrollment; place: Place; made: Answer },
): string => {
  if (place === 'here' || typed !== suggested) return typed
  const { transports } = made.response
  const isPhone = Array.isArray(transports) && transports.includes('hybrid')
  return ofPerson(t('enrollment.deviceKind', { kind: isPhone ? 'phone' : 'key' }), enrollment)
}

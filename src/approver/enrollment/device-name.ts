import type { Answer, Place } from '../calls/webauthn.ts'
import { t, withoutIsolates } from '../language/text.ts'
import { deviceModel, isAndroid, isComputer } from '../shell/browser.ts'

const ofPerson = (device: string, name: string): string =>
  withoutIsolates(name ? t('enrollment.deviceOf', { device, name }) : device).slice(0, 60)

/** A name for this device, such as "Ada’s Pixel 9". Never longer than the service accepts. */
export const suggestedName = async (firstName: string): Promise<string> => {
  const kind = isComputer ? 'computer' : isAndroid ? 'android' : 'other'
  return ofPerson((await deviceModel()) ?? t('enrollment.deviceKind', { kind }), firstName)
}

/** The name of a key that is not on this device, unless the person has typed one. */
export const nameOfKey = (
  typed: string,
  { suggested, firstName, place, made }: { suggested: string; firstName: string; place: Place; made: Answer },
): string => {
  if (place === 'here' || typed !== suggested) return typed
  const { transports } = made.response
  const isPhone = Array.isArray(transports) && transports.includes('hybrid')
  return ofPerson(t('enrollment.deviceKind', { kind: isPhone ? 'phone' : 'key' }), firstName)
}

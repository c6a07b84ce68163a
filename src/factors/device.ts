import { cannotTell, fail, pass, type Verdict } from './verdict.ts'

type Id = number | string

/** `registered_to`: id of the owner. `known_imei`: the IMEI of the registration, if any. */
export type Device = {
  id: Id
  registered_to: Id | null
  revoked: boolean
  imei?: string | null
  known_imei?: string | null
}

const isId = (value: unknown): value is Id =>
  typeof value === 'string' ? value.length > 0 : Number.isSafeInteger(value)

/** Requires a device that is registered to the user, not revoked, and of the known IMEI, if any. The verdict contains no IMEI. */
export const checkDevice = (device: unknown, userId: unknown): Verdict => {
  if (device === undefined || device === null) return cannotTell('no device was provided')
  if (typeof device !== 'object') return cannotTell('the device cannot be read')
  const { id, registered_to, revoked, imei, known_imei } = device as Record<string, unknown>
  if (!isId(id) || !isId(userId) || typeof revoked !== 'boolean')
    return cannotTell('the device cannot be read')
  const known = known_imei !== undefined && known_imei !== null
  const observed = {
    registered: registered_to === userId,
    revoked,
    ...(known && { imei_matches: typeof imei === 'string' && imei === known_imei }),
  }
  const expected = { registered: true, revoked: false, ...(known && { imei_matches: true }) }
  if (!observed.registered) return fail('the device is not registered to this user', expected, observed)
  if (revoked) return fail('the device is revoked', expected, observed)
  if (observed.imei_matches === false)
    return fail('the IMEI does not match the registered device', expected, observed)
  return pass('the device is registered to this user', expected, observed)
}

import type { Devices } from '../calls/api.ts'
import { dateText } from '../language/time.ts'
import { t } from '../language/text.ts'
import { codeText } from '../shell/text.ts'

export type Device = Devices['devices'][number]

/** Where the key of a device is. The flags are signed by the authenticator, the attachment is what the browser said. */
const keyText = ({ kind, backed_up, backup_eligible, attachment }: Device): string => {
  if (kind === 'software') return t('devices.softwareKey')
  if (backed_up) return t('devices.synced')
  if (attachment === 'cross-platform') return t('devices.securityKey')
  // A device from before the service noted it.
  if (backup_eligible === null) return ''
  return t(backup_eligible ? 'devices.canSync' : 'devices.bound')
}

const states = {
  pending: 'devices.pending',
  active: 'devices.active',
  revoked: 'devices.revoked',
  refused: 'devices.refused',
} as const

export const stateText = ({ state, active_from }: Device): string =>
  active_from !== null && state === 'pending'
    ? t('devices.becomesActive', { date: dateText(active_from) })
    : t(states[state])

const usedText = ({ last_used_at: at }: Device): string =>
  at === null ? t('devices.notUsed') : t('devices.lastUsed', { date: dateText(at) })

/** When a device was added and last used, which tells it from others of the same name. */
export const timesOf = (device: Device): string[] => [
  t('devices.added', { date: dateText(device.registered_at) }),
  usedText(device),
]

/** What the screen of a device that waits for approval shows. */
export const compareText = ({ state, proof, active_from, comparison_code: code }: Device): string =>
  state === 'pending' && active_from === null && (proof === 'device' || proof === 'admin')
    ? codeText(code)
    : ''

/** The lines below the name of a device. `own`: the device that shows them. */
export const deviceLines = (device: Device, own?: string): string[] => {
  const { id, revoked_at } = device
  if (revoked_at !== null) return [t('devices.removedOn', { date: dateText(revoked_at) })]
  const state = id === own ? t('devices.thisDevice') : stateText(device)
  return [state, compareText(device), keyText(device), ...timesOf(device)].filter((line) => line !== '')
}

export const isActive = ({ state }: Device): boolean => state === 'active'

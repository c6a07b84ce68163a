import type { Refused } from '../calls/api.ts'
import { t } from '../language/text.ts'
import { showNotice, words, type Words } from '../shell/frame.ts'
import { showRemoved } from './removed.ts'

const wordsFor = ({ code, data }: Refused): Words | undefined => {
  const { organization } = data
  if (code === 'device_not_registered') return words('enrollment.unknownKey')
  if (code === 'device_refused') return words('enrollment.deviceRefused')
  if (code === 'member_on_hold')
    return {
      title: t('enrollment.onHold'),
      lines: [t('enrollment.onHoldWhy', { organization: String(organization) })],
    }
  if (code !== 'not_a_member') return undefined
  const isKnown = typeof organization === 'string'
  return {
    title: t('enrollment.notMember'),
    lines: [isKnown ? t('enrollment.notMemberWhy', { organization }) : t('enrollment.notMemberAnywhere')],
  }
}

/** A key that signed. */
export type Key = { rpId: string; credential: string }

/** Whether nothing more can come of this key, on this phone or any other. */
export const isOver = ({ code, data }: Refused): boolean =>
  ['device_not_registered', 'device_refused', 'not_a_member'].includes(code) ||
  (code === 'device_revoked' && !data.pending?.length)

/** The screen that says why a device that proved its owner cannot sign in; undefined for any other refusal. */
export const standingOf = (
  refused: Refused,
  key: Key,
  wayBack: () => HTMLElement,
): (() => void) | undefined => {
  if (refused.code === 'device_revoked')
    return () => showRemoved({ wayBack: wayBack(), key, newcomers: refused.data.pending })
  const said = wordsFor(refused)
  return said && (() => void showNotice({ drawing: 'phone', ...said, actions: [wayBack()] }))
}

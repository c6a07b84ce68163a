import type { Refused } from '../calls/api.ts'
import { t } from '../language/text.ts'
import { button } from '../shell/element.ts'
import { showNotice } from '../shell/frame.ts'
import { showRemoved } from './removed.ts'

type Words = { title: string; line: string }

const wordsFor = ({ code, data }: Refused): Words | undefined => {
  const { organization } = data
  if (code === 'device_not_registered')
    return { title: t('enrollment.unknownKey'), line: t('enrollment.unknownKeyWhy') }
  if (code === 'device_refused')
    return { title: t('enrollment.deviceRefused'), line: t('enrollment.deviceRefusedWhy') }
  if (code === 'member_on_hold')
    return {
      title: t('enrollment.onHold'),
      line: t('enrollment.onHoldWhy', { organization: String(organization) }),
    }
  if (code !== 'not_a_member') return undefined
  return {
    title: t('enrollment.notMember'),
    line:
      typeof organization === 'string'
        ? t('enrollment.notMemberWhy', { organization })
        : t('enrollment.notMemberAnywhere'),
  }
}

/** Why a device that proved its owner cannot sign in, and what to do. Returns false for any other refusal. */
export const showStanding = (refused: Refused, rpId: string, signIn: () => void): boolean => {
  if (refused.code === 'device_revoked') {
    showRemoved(rpId, refused.data.pending)
    return true
  }
  const words = wordsFor(refused)
  if (!words) return false
  showNotice({
    drawing: 'phone',
    title: words.title,
    lines: [words.line],
    actions: [button(t('enrollment.signIn'), 'plain', signIn)],
  })
  return true
}

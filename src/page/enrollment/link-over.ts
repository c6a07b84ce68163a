import type { Refused } from '../calls/api.ts'
import { t } from '../language/text.ts'
import { button, type Drawing } from '../shell/element.ts'
import { showNotice, words, type Words } from '../shell/frame.ts'

const looks: Record<string, () => Words & { drawing: Drawing }> = {
  used: () => ({ drawing: 'phone', ...words('enrollment.linkUsed') }),
  unknown: () => ({ drawing: 'cross', ...words('enrollment.linkUnknown') }),
  damaged: () => ({ drawing: 'cross', ...words('enrollment.linkDamaged') }),
  expired: () => over(t('enrollment.linkExpired'), t('enrollment.newLink')),
  on_hold: () => over(t('enrollment.onHold'), t('enrollment.linkOnHold')),
}

const over = (title: string, line: string): ReturnType<(typeof looks)[string]> => ({
  drawing: 'clock',
  title,
  lines: [line],
})

/** Why a link cannot be used, and what to do. Its owner may have registered with it already. */
export const showLinkOver = (reason: unknown, signIn: () => void): void =>
  void showNotice({
    ...(looks[String(reason)]?.() ?? over(t('enrollment.linkOver'), t('enrollment.newLink'))),
    actions: [button(t('enrollment.signIn'), reason === 'used' ? 'primary' : 'quiet', signIn)],
  })

/** The reason that the service gives. */
export const reasonOf = ({ data }: Refused): unknown => data.reason

import type { Refused } from '../calls/api.ts'
import { t } from '../language/text.ts'
import { button, type Drawing } from '../shell/element.ts'
import { showNotice } from '../shell/frame.ts'

const drawingFor = (reason: unknown): Drawing => {
  if (reason === 'used') return 'phone'
  return reason === 'unknown' || reason === 'damaged' ? 'cross' : 'clock'
}

const wordsFor = (reason: unknown): { title: string; line: string } => {
  if (reason === 'used') return { title: t('enrollment.linkUsed'), line: t('enrollment.linkUsedWhy') }
  if (reason === 'expired') return { title: t('enrollment.linkExpired'), line: t('enrollment.newLink') }
  if (reason === 'unknown')
    return { title: t('enrollment.linkUnknown'), line: t('enrollment.linkUnknownWhy') }
  if (reason === 'damaged')
    return { title: t('enrollment.linkDamaged'), line: t('enrollment.linkDamagedWhy') }
  if (reason === 'on_hold') return { title: t('enrollment.onHold'), line: t('enrollment.linkOnHold') }
  return { title: t('enrollment.linkOver'), line: t('enrollment.newLink') }
}

/** Why a link cannot be used, and what to do. Its owner may have registered with it already. */
export const showLinkOver = (reason: unknown, signIn: () => void): void =>
  void showNotice({
    drawing: drawingFor(reason),
    title: wordsFor(reason).title,
    lines: [wordsFor(reason).line],
    actions: [button(t('enrollment.signIn'), reason === 'used' ? 'primary' : 'quiet', signIn)],
  })

/** The reason that the service gives. */
export const reasonOf = ({ data }: Refused): unknown => data.reason

import type { Newcomer } from '../calls/api.ts'
import { t } from '../language/text.ts'
import { dateText } from '../language/time.ts'
import { button, h, ul } from '../shell/element.ts'
import { outcomeLine, problemLine } from '../shell/frame.ts'
import { notice, showNotice } from '../shell/notice.ts'
import { type Key, signed, unless } from '../shell/signed.ts'

/** For a phone that is no longer active. With its key, its owner can still refuse a device that somebody else registered. */
export const showRemoved = (back: HTMLElement, key?: Key, newcomers: readonly Newcomer[] = []): void => {
  const problem = problemLine()
  const row = ({ id, active_from }: Newcomer): HTMLElement => {
    const refuse = (): Promise<void> =>
      problem.attempt(async () => {
        await signed('refuseNewDevice', key!, { device_id: id }).catch(unless('device_refused'))
        const outcome = outcomeLine(t('enrollment.newcomerRefused'))
        item.replaceChildren(outcome)
        outcome.focus({ preventScroll: true })
      })
    const line =
      active_from === null
        ? t('enrollment.newcomerWaiting')
        : t('enrollment.newcomerActive', { date: dateText(active_from) })
    const item = h('li', 'member', h('p', {}, line), button(t('common.refuse'), 'danger', refuse))
    return item
  }
  showNotice(
    {
      ...notice('phone', t('enrollment.removed'), t('enrollment.removedWhy'), t('enrollment.removedNext')),
      body: [newcomers.length > 0 && ul('cards', ...newcomers.map(row)), problem.element],
    },
    back,
  )
}

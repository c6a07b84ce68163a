import { call, Refused, type Newcomer } from '../calls/api.ts'
import { button, h, ul } from '../shell/element.ts'
import { outcomeLine, problemLine, showNotice } from '../shell/frame.ts'
import { dateText } from '../language/time.ts'
import { assert } from '../calls/webauthn.ts'
import { t } from '../language/text.ts'

type Removed = {
  wayBack: HTMLElement
  /** The key that signed, and that can refuse these. */
  key?: { rpId: string; credential: string }
  newcomers?: readonly Newcomer[] | undefined
}

/** For a phone that is no longer active. Its owner can still refuse a device that somebody else registered. */
export const showRemoved = ({ wayBack, key, newcomers = [] }: Removed): void => {
  const problem = problemLine()
  const refuse = ({ id: device_id }: Newcomer, item: HTMLElement): Promise<void> =>
    problem.attempt(async () => {
      const { challenge } = await call('beginDeviceRefusal', { device_id })
      const response = await assert(key?.rpId ?? '', challenge, key?.credential)
      await call('refuseNewDevice', { device_id, challenge, response }).catch((error: unknown) => {
        // The answer to the first attempt was lost.
        if (!(error instanceof Refused && error.code === 'device_refused')) throw error
      })
      const outcome = outcomeLine(t('enrollment.newcomerRefused'))
      item.replaceChildren(outcome)
      outcome.focus({ preventScroll: true })
    })
  const row = (newcomer: Newcomer): HTMLElement => {
    const item = h('li', 'member')
    const { active_from } = newcomer
    const line =
      active_from === null
        ? t('enrollment.newcomerWaiting')
        : t('enrollment.newcomerActive', { date: dateText(active_from) })
    item.append(
      h('p', {}, line),
      button(t('common.refuse'), 'danger', () => refuse(newcomer, item)),
    )
    return item
  }
  showNotice({
    drawing: 'phone',
    title: t('enrollment.removed'),
    lines: [t('enrollment.removedWhy'), t('enrollment.removedNext')],
    body: [newcomers.length > 0 && ul('cards', ...newcomers.map(row)), problem.element],
    actions: [wayBack],
  })
}

import type { Session } from '../calls/api.ts'
import { keep, readKept } from '../calls/kept.ts'
import { t } from '../language/text.ts'
import { button, h } from '../shell/element.ts'

const kept = 'svc-second-device'

let isDismissed = readKept(kept) !== undefined

/** Suggests a backup to a person who has one device, until they dismiss it on this phone. */
export const secondDevice = ({ only_device }: Session): HTMLElement | false => {
  if (!only_device || isDismissed) return false
  const dismiss = (): void => {
    isDismissed = true
    keep(kept, 'dismissed')
    const below = card.parentElement
    card.remove()
    below?.querySelector<HTMLElement>('select, a')?.focus({ preventScroll: true })
  }
  const card = h(
    'div',
    { class: 'paper' },
    h('p', {}, t('devices.suggestSecond')),
    h(
      'div',
      { class: 'links' },
      h('a', { class: 'button quiet', href: '#add-device' }, t('devices.add')),
      button(t('inbox.dismiss'), 'quiet', dismiss),
    ),
  )
  return card
}

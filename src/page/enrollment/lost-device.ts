import { t } from '../language/text.ts'
import { details, div, h } from '../shell/element.ts'

/** What to do about a lost device. It opens on demand, on the screen where somebody without a device arrives. */
export const lostDevice = (): HTMLElement =>
  details(
    t('devices.lostQuestion'),
    div(
      'content',
      h('p', {}, t('devices.lostOther')),
      h('p', {}, t('devices.lostLast')),
      h('p', {}, t('devices.lostWait')),
    ),
  )

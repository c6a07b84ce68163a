import type { Session } from '../calls/api.ts'
import { keep, readKept } from '../calls/kept.ts'
import { t } from '../language/text.ts'
import { h } from '../shell/element.ts'
import { suggestion } from '../enrollment/suggestion.ts'

const kept = 'svc-second-device'

let isDismissed = readKept(kept) !== undefined

/** Suggests a backup to a person who has one device, until they dismiss it on this phone. */
export const secondDevice = ({ only_device }: Session): HTMLElement | false =>
  only_device &&
  !isDismissed &&
  suggestion({
    line: t('devices.suggestSecond'),
    action: h('a', { class: 'button quiet', href: '#add-device' }, t('devices.add')),
    dismissed: () => {
      isDismissed = true
      keep(kept, 'dismissed')
    },
  })

import { button, h, type Drawing } from './element.ts'
import { showNotice } from './frame.ts'
import { t } from '../language/text.ts'

/** An answer that takes less replaces the screen at once, without a flash of another one. */
export const noticeableMs = 400

type Opening<D> = {
  drawing: Drawing
  title: string
  read: () => Promise<D>
  /** Whether the person still waits for it. */
  isHere: () => boolean
  show: (data: D) => void
}

/** A screen with data that is read when the screen is opened, because the person decides about it. */
export const openList = async <D>(opening: Opening<D>): Promise<void> => {
  const { drawing, title, read, isHere, show } = opening
  const loading = setTimeout(
    () => isHere() && showNotice({ drawing, title, lines: [t('common.moment')] }),
    noticeableMs,
  )
  const found = await read().then(
    (data) => ({ data }),
    () => undefined,
  )
  clearTimeout(loading)
  if (!isHere()) return
  if (found) return show(found.data)
  showNotice({
    drawing: 'clock',
    title: t('common.unreachableTitle'),
    lines: [t('common.openAgain')],
    actions: [
      button(t('common.tryAgain'), 'primary', () => openList(opening)),
      h('a', { class: 'button quiet', href: '#' }, t('common.allRequests')),
    ],
  })
}

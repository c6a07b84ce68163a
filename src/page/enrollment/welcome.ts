import type { Session } from '../calls/api.ts'
import { t } from '../language/text.ts'
import { button, h, picture } from '../shell/element.ts'
import { show } from '../shell/frame.ts'

/** After a registration: what happens from now on. */
export const showWelcome = ({ organization }: Session): Promise<void> =>
  new Promise((resolve) => {
    const title = t('enrollment.registered')
    show(
      title,
      h('div', { class: 'notice' }, picture('check', 'good'), h('h1', {}, title)),
      h('h2', {}, t('enrollment.nextTitle')),
      h(
        'ol',
        { class: 'terms' },
        h('li', {}, t('enrollment.nextRequest', { organization })),
        h('li', {}, t('enrollment.nextDecide')),
      ),
      h(
        'div',
        { class: 'actions' },
        button(t('common.continue'), 'primary', () => resolve()),
      ),
    )
  })

import type { Session } from '../calls/api.ts'
import { t } from '../language/text.ts'
import { button, div, h, picture } from '../shell/element.ts'
import { show } from '../shell/frame.ts'

/** After a registration: what happens from now on. */
export const showWelcome = ({ organization }: Session): Promise<void> =>
  new Promise((resolve) => {
    const title = t('enrollment.registered')
    show(
      title,
      div('notice', picture('check', 'good'), h('h1', {}, title)),
      h('h2', {}, t('enrollment.nextTitle')),
      h(
        'ol',
        { class: 'terms' },
        h('li', {}, t('enrollment.nextRequest', { organization })),
        h('li', {}, t('enrollment.nextDecide')),
      ),
      div(
        'actions',
        button(t('common.continue'), 'primary', () => resolve()),
      ),
    )
  })

import type { Session } from '../calls/api.ts'
import { t } from '../language/text.ts'
import { button, h } from '../shell/element.ts'
import { showNotice } from '../shell/frame.ts'

/** After a registration: what happens from now on. */
export const showWelcome = ({ organization }: Session): Promise<void> =>
  new Promise((resolve) => {
    const steps = [t('enrollment.nextRequest', { organization }), t('enrollment.nextDecide')]
    showNotice({
      drawing: 'check',
      tone: 'good',
      title: t('enrollment.registered'),
      lines: [],
      body: [
        h('h2', {}, t('enrollment.nextTitle')),
        h('ol', 'terms', ...steps.map((step) => h('li', {}, step))),
      ],
      actions: [button(t('common.continue'), 'primary', () => resolve())],
    })
  })

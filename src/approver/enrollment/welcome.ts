import { call, type Session } from '../calls/api.ts'
import { t } from '../language/text.ts'
import { button, h, picture } from '../shell/element.ts'
import { show } from '../shell/frame.ts'

/** Whether this is the only device of the person that can decide; if that cannot be read, it is not said. */
const isOnlyDevice = async ({ org_id: org }: Session): Promise<boolean> => {
  try {
    const { devices } = await call('listOwnDevices', {}, { org })
    return devices.filter(({ state }) => state === 'active').length === 1
  } catch {
    return false
  }
}

/** After a registration: what happens from now on. */
export const showWelcome = async (session: Session): Promise<void> => {
  const { organization } = session
  const isOnly = await isOnlyDevice(session)
  await new Promise<void>((resolve) => {
    const title = t('enrollment.registered')
    const goOn = button(t('common.continue'), 'primary', () => resolve())
    show(
      title,
      h('div', { class: 'notice' }, picture('check', 'good'), h('h1', {}, title)),
      h('h2', {}, t('enrollment.nextTitle')),
      h(
        'ol',
        { class: 'terms' },
        h('li', {}, t('enrollment.nextRequest', { organization })),
        h('li', {}, t('enrollment.nextDecide')),
        isOnly && h('li', {}, t('enrollment.nextBackup')),
      ),
      h('div', { class: 'actions' }, goOn),
    )
  })
}

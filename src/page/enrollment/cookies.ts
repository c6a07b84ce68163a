import { t } from '../language/text.ts'
import { button } from '../shell/element.ts'
import { showNotice } from '../shell/frame.ts'

/** The service opened a session, and the browser did not keep its cookie. */
export const showCookiesBlocked = (again: () => void): void =>
  void showNotice({
    drawing: 'cross',
    tone: 'bad',
    title: t('enrollment.cookiesBlocked'),
    lines: [t('enrollment.cookiesBlockedWhy', { host: location.host })],
    actions: [button(t('common.tryAgain'), 'primary', again)],
  })

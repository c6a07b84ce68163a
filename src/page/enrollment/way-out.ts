import { t } from '../language/text.ts'
import { isAndroid, isComputer, isInApp } from '../shell/browser.ts'
import { button, h } from '../shell/element.ts'
import { showNotice, words } from '../shell/frame.ts'
import { keysHere } from '../calls/webauthn.ts'
import { createCode, createCopy } from './hand-over.ts'

/** Android opens such an address in the browser of its owner, also from a window inside another app. */
const intent = (): string =>
  `intent://${location.host}${location.pathname}${location.hash}#Intent;scheme=https;action=android.intent.action.VIEW;end`

/**
 * For a browser in which nothing can be registered or signed: a window inside another app, or one without WebAuthn. The
 * link is still in the address, so that it can be opened elsewhere. Returns false if this browser will do.
 */
export const showWayOut = async (goOn: () => void): Promise<boolean> => {
  const { possible } = await keysHere()
  if (possible && !isInApp) return false
  const canOpen = isAndroid && location.protocol === 'https:'
  const notice = showNotice({
    drawing: 'phone',
    ...words(isInApp ? 'enrollment.inApp' : 'enrollment.noWebAuthn'),
    actions: [
      canOpen && h('a', { class: 'button primary', href: intent() }, t('enrollment.openInBrowser')),
      possible && button(t('enrollment.continueHere'), 'quiet', goOn),
    ].filter((action) => action !== false),
  })
  notice.append(...(isComputer ? [createCode()] : []), createCopy())
  return true
}

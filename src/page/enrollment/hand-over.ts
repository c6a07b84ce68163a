import { keysHere } from '../calls/webauthn.ts'
import { t } from '../language/text.ts'
import { isAndroid, isComputer, isInApp } from '../shell/browser.ts'
import { button, div, h, link } from '../shell/element.ts'
import { showNotice, words } from '../shell/notice.ts'

type Drawer = { modulesOf: (text: string) => { size: number; path: string } }

/** Only a computer needs the code, so it is a file of its own. */
const drawerFile = '/approver/code.js?v=PAGE_VERSION'

/** A phone cannot open an address of this machine. */
const opensElsewhere = location.protocol === 'https:'

const codeOf = async (address: string, alt: string): Promise<HTMLElement | undefined> => {
  try {
    const { modulesOf } = (await import(drawerFile)) as Drawer
    const { size, path } = modulesOf(address)
    const look = { class: 'code', viewBox: `0 0 ${size} ${size}`, role: 'img', 'aria-label': alt }
    return h('svg', look, h('path', { d: path }))
  } catch {
    return undefined
  }
}

/** A link, such as that of this page, to open it on a phone: as a code, which the phone scans. Empty if no phone can open it. */
export const createCode = (address = location.href, alt = t('enrollment.codeAlt')): HTMLElement => {
  const place = div('hand-over')
  if (opensElsewhere)
    void codeOf(address, alt).then((code) => code && place.append(code, h('p', {}, t('enrollment.scan'))))
  return place
}

/** A link, such as that of this page, as text, and a button that copies it. */
export const createCopy = (address = location.href): HTMLElement => {
  const link = h('p', { class: 'link', dir: 'ltr' }, address)
  const said = h('p', { class: 'aside', role: 'status' })
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(address)
      said.textContent = t('enrollment.copied')
    } catch {
      // Some apps allow no access to the clipboard.
      getSelection()?.selectAllChildren(link)
      said.textContent = t('enrollment.copyByHand')
    }
  }
  return div('content', link, button(t('enrollment.copyLink'), 'plain', copy), said)
}

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
  const notice = showNotice(
    isInApp
      ? words('enrollment.inApp', 'enrollment.inAppWhy', 'phone')
      : words('enrollment.noWebAuthn', 'enrollment.noWebAuthnWhy', 'phone'),
    isAndroid && opensElsewhere && link(intent(), 'primary', t('enrollment.openInBrowser')),
    possible && button(t('enrollment.continueHere'), 'quiet', goOn),
  )
  notice.append(...(isComputer ? [createCode()] : []), createCopy())
  return true
}

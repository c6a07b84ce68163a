import { h } from './element.ts'
import { showNotice } from './frame.ts'
import { t } from '../language/text.ts'

/** Takes the token of a link, and removes it from the address bar and the history. */
export const takeToken = (of: 'enroll' | 'verify-email' | 'authorize'): string | undefined => {
  const [, name, token] = /^#(enroll|verify-email|authorize)=([\w-]{1,8000})$/.exec(location.hash) ?? []
  if (name !== of) return undefined
  history.replaceState(null, '', location.pathname)
  return token
}

export const requestInAddress = (): string | undefined =>
  /^#request=([\w%.-]{1,200})$/.exec(location.hash)?.[1]

/** The id in an address such as `#member=7`. */
export const inAddress = (name: 'decision' | 'activity' | 'member'): string | undefined => {
  const [, found, id] = /^#(decision|activity|member)=([\w.-]{1,64})$/.exec(location.hash) ?? []
  return found === name ? id : undefined
}

const loopback = /^(?:127(?:\.\d{1,3}){3}|\[::1\])$/

/** Whether the address of this page opens a screen that needs no session. */
export const hasToken = (): boolean => /^#(?:enroll|verify-email|authorize)=/.test(location.hash)

const isNamed = !loopback.test(location.hostname)

/** WebAuthn requires a host name and https, or localhost. */
export const canSign = isSecureContext && isNamed

/** If WebAuthn cannot work here, shows why and returns false. */
export const addressWorks = (): boolean => {
  if (canSign) return true
  if (!isNamed) {
    const there = new URL(location.href)
    there.hostname = 'localhost'
    showNotice({
      drawing: 'phone',
      title: t('common.nameAddress'),
      lines: [t('common.nameAddressWhy')],
      actions: [
        h('a', { class: 'button primary', href: there.href }, t('common.goTo', { address: there.host })),
      ],
    })
    return false
  }
  showNotice({
    drawing: 'phone',
    title: t('common.httpsAddress'),
    lines: [t('common.httpsAddressWhy')],
  })
  return false
}

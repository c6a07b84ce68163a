import { link } from './element.ts'
import { showNotice, words } from './notice.ts'
import { t } from '../language/text.ts'

export type Token = 'enroll' | 'verify-email' | 'authorize'

/** The part of the address after `#`; some apps encode it once more. */
const fragment = (): string => {
  try {
    return decodeURIComponent(location.hash)
  } catch {
    return location.hash
  }
}

/**
 * The token of a link, or `damaged`. It stays in the address until it has been used: a reload, or the same address in another
 * browser, goes on with it. Servers never see this part of an address, and the history has it as soon as the link is opened.
 */
export const tokenInAddress = (of: Token): string | undefined => {
  const found = fragment()
  if (!found.startsWith(`#${of}=`)) return undefined
  const text = found.slice(of.length + 2)
  // A chat may append a full stop or a bracket to a link.
  const token = /^[\w-]+/.exec(text)?.[0] ?? ''
  const isWhole = of === 'authorize' ? /^[\w-]{1,8000}$/.test(text) : token.length === 43
  return isWhole ? token : 'damaged'
}

/** Removes a token that was used from the address and from this entry of the history. */
export const clearToken = (): void => history.replaceState(null, '', location.pathname)

export const requestInAddress = (): string | undefined =>
  /^#request=([\w%.-]{1,200})$/.exec(location.hash)?.[1]

/** The screen in an address such as `#member=7`, and its id. */
export const screenInAddress = (): [name: string, id: string] => {
  const [, of = '', id = '', name = of] =
    /^#(?:([a-z-]+=)([\w.-]{1,64})|([a-z-]+))$/.exec(location.hash) ?? []
  return [name, id]
}

const loopback = /^(?:127(?:\.\d{1,3}){3}|\[::1\])$/

/** Whether the address of this page opens a screen that needs no session. */
export const hasToken = (): boolean =>
  (['enroll', 'verify-email', 'authorize'] as const).some((one) => tokenInAddress(one) !== undefined)

const isNamed = !loopback.test(location.hostname)

/** WebAuthn requires a host name and https, or localhost. */
export const canSign = isSecureContext && isNamed

/** If WebAuthn cannot work here, shows why and returns false. */
export const addressWorks = (): boolean => {
  if (canSign) return true
  if (!isNamed) {
    const there = new URL(location.href)
    there.hostname = 'localhost'
    showNotice(
      words('common.nameAddress', 'common.nameAddressWhy', 'phone'),
      link(there.href, 'primary', t('common.goTo', { address: there.host })),
    )
    return false
  }
  showNotice(words('common.httpsAddress', 'common.httpsAddressWhy', 'phone'))
  return false
}

import { t } from '../language/text.ts'
import { button, div, h } from '../shell/element.ts'

type Drawer = { modulesOf: (text: string) => { size: number; path: string } }

/** Only a computer needs the code, so it is a file of its own. */
const drawerFile = '/approver/code.js?v=PAGE_VERSION'

/** A phone cannot open an address of this machine. */
const opensElsewhere = (): boolean => location.protocol === 'https:'

const codeOf = async (address: string, alt: string): Promise<HTMLElement | undefined> => {
  try {
    const { modulesOf } = (await import(drawerFile)) as Drawer
    const { size, path } = modulesOf(address)
    return h(
      'svg',
      {
        class: 'code',
        viewBox: `0 0 ${size} ${size}`,
        role: 'img',
        'aria-label': alt,
      },
      h('path', { d: path }),
    )
  } catch {
    return undefined
  }
}

/** A link, such as that of this page, to open it on a phone: as a code, which the phone scans. Empty if no phone can open it. */
export const createCode = (address = location.href, alt = t('enrollment.codeAlt')): HTMLElement => {
  const place = div('hand-over')
  if (opensElsewhere())
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

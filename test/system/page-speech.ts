import type { Phone } from './page-phone.ts'

// What a screen reader reads by itself: where the focus arrives, and what changes in a live region that is not in a busy part.

type Heard = { by: 'focus' | 'region' | 'silence'; text: string }

const recorder = `(() => {
  const heard = (globalThis.heard = [])
  const textOf = (one) => (one.getAttribute('aria-label') ?? one.textContent).replaceAll(/[\\u2068\\u2069]/g, '').trim()
  const start = () => {
    addEventListener('focusin', ({ target }) => heard.push({ by: 'focus', text: textOf(target) }), true)
    new MutationObserver((changes) => {
      const regions = new Set()
      for (const { target } of changes) {
        const one = target.nodeType === 1 ? target : target.parentElement
        const region = one?.closest('[aria-live], [role=status], [role=alert]')
        if (region?.isConnected && region.getAttribute('aria-live') !== 'off') regions.add(region)
      }
      for (const region of regions) {
        const text = textOf(region)
        if (text !== '') heard.push({ by: region.closest('[aria-busy=true]') ? 'silence' : 'region', text })
      }
    }).observe(document, { childList: true, subtree: true, characterData: true })
  }
  if (document.documentElement) start()
  else addEventListener('DOMContentLoaded', start)
})()`

/** Call it before the page is opened. */
export const listen = async ({ page }: Pick<Phone, 'page'>) => {
  await page.addInitScript(recorder)
  return {
    /** What was read since the last call, or since the page was opened. */
    heard: (): Promise<Heard[]> => page.evaluate('globalThis.heard.splice(0)'),
  }
}

type Node = {
  nodeId: string
  parentId?: string
  ignored: boolean
  role?: { value: string }
  name?: { value: string }
  childIds?: string[]
}

const named = new Set([
  'button',
  'link',
  'textbox',
  'combobox',
  'checkbox',
  'DisclosureTriangle',
  'image',
  'heading',
  'searchbox',
])

/** What is wrong in what a screen reader finds on this screen, and in what it read on the way. */
export const unheard = async ({ page, devtools }: Phone, heard: readonly Heard[]): Promise<string[]> => {
  const { nodes } = (await devtools.send('Accessibility.getFullAXTree')) as unknown as { nodes: Node[] }
  const shown = nodes.filter(({ ignored }) => !ignored)
  const nameless = shown.filter(({ role, name }) => named.has(role?.value ?? '') && !name?.value)
  const [focus, headings, title]: [string, number, string] = await page.evaluate(
    `[document.activeElement.tagName, document.querySelectorAll('h1').length, document.title]`,
  )
  const twice = heard.filter(
    ({ text, by }, at) => by !== 'silence' && text !== '' && text === heard[at - 1]?.text,
  )
  return [
    ...nameless.map(({ role }) => `no name: ${role?.value}`),
    ...twice.map(({ text }) => `read twice: ${text}`),
    ...heard.filter(({ by }) => by === 'silence').map(({ text }) => `not read: ${text}`),
    ...(focus === 'BODY' ? ['the focus is lost'] : []),
    ...(headings === 1 ? [] : [`${headings} headings of the first level`]),
    ...(title === '' ? ['no title'] : []),
  ]
}

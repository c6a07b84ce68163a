import axe from 'axe-core'
import type { Phone } from './page-phone.ts'

type Screen = Pick<Phone, 'page' | 'devtools'>
type Finding = { impact: string; id: string; nodes: { html: string }[] }

/** Through the debugger, because the content security policy allows no injected script. */
const check = async ({ page, devtools }: Screen, options: object = {}): Promise<Finding[]> => {
  if (await page.evaluate('!globalThis.axe'))
    await devtools.send('Runtime.evaluate', { expression: axe.source })
  const all = JSON.stringify({ resultTypes: ['violations'], ...options })
  return page.evaluate(`axe.run(${all}).then(({ violations }) => violations)`)
}

const lineOf = ({ id, nodes }: Finding): string => `${id}: ${nodes.map(({ html }) => html).join(' ')}`

/** Words that a line ends within, although they would fit into one. A word may be divided by a hyphen, a slash and such. */
export const brokenWords = ({ page }: Pick<Phone, 'page'>): Promise<string[]> =>
  page.evaluate(`(() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const range = document.createRange()
    const found = []
    const lengthOf = (text) => parseFloat(text) || 0
    /** Between its paddings and, in a row, beside what else is in it. */
    const freeIn = (room) => {
      const { paddingLeft, paddingRight, display, columnGap } = getComputedStyle(room)
      const width = room.clientWidth - lengthOf(paddingLeft) - lengthOf(paddingRight)
      if (!display.endsWith('flex')) return width
      const marks = ['::before', '::after'].map((one) => getComputedStyle(room, one)).filter(({ content }) => content !== 'none')
      const others = [
        ...[...room.children].map((one) => one.getBoundingClientRect().width),
        ...marks.map((one) => lengthOf(one.width) + lengthOf(one.marginLeft) + lengthOf(one.marginRight)),
      ]
      return others.reduce((left, one) => left - one - lengthOf(columnGap), width)
    }
    // A browser that knows the language would divide words correctly.
    document.body.style.hyphens = 'manual'
    while (texts.nextNode()) {
      const text = texts.currentNode
      // A link has no words, and a token that is longer than its line.
      if (text.parentElement.closest('.link')) continue
      const room = text.parentElement.closest('#organization, p, li, dd, dt, h1, h2, h3, a, button, span.long') ?? document.body
      for (const { 0: word, index } of text.data.matchAll(/[\\p{L}\\p{M}\\p{N}’'.:]+/gu)) {
        if (/\\p{Script=Han}|\\p{Script=Hiragana}|\\p{Script=Katakana}/u.test(word)) continue
        range.setStart(text, index)
        range.setEnd(text, index + word.length)
        const lines = [...range.getClientRects()].filter(({ width }) => width > 0)
        const width = lines.reduce((sum, line) => sum + line.width, 0)
        const tops = new Set(lines.map(({ top }) => Math.round(top)))
        if (tops.size > 1 && width < freeIn(room)) found.push('broken: ' + word)
      }
    }
    document.body.style.hyphens = ''
    return found
  })()`)

const measure = async ({ page }: Pick<Phone, 'page'>): Promise<string[]> => {
  const small: string[] =
    await page.evaluate(`[...document.querySelectorAll('button, a, input, select, textarea, summary')]
    .filter((one) => one.getClientRects().length > 0 && (one.closest('label') ?? one).getBoundingClientRect().height < 44)
    .map((one) => 'small: ' + one.textContent)`)
  // Not innerWidth: that of a phone grows until everything fits, and that of a computer includes its scrollbar.
  const wide: boolean = await page.evaluate(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  )
  return [...small, ...(wide ? ['wider than the screen'] : [])]
}

export const flaws = async (phone: Screen): Promise<string[]> => [
  ...(await check(phone)).filter(({ impact }) => impact === 'serious' || impact === 'critical').map(lineOf),
  ...(await measure(phone)),
  ...(await brokenWords(phone)),
]

/** Any violation of axe, in light and dark, and what does not fit on the smallest screen with text at twice the size. */
export const flawsInEachView = async (phone: Phone): Promise<string[]> => {
  const { page } = phone
  const found = [
    ...(await check(phone)).map(lineOf),
    ...(await measure(phone)),
    ...(await brokenWords(phone)),
  ]
  await page.emulateMedia({ colorScheme: 'dark' })
  found.push(...(await check(phone, { runOnly: ['color-contrast'] })).map((one) => `dark: ${lineOf(one)}`))
  await page.emulateMedia({ colorScheme: 'light' })
  const { width, height } = page.viewportSize()!
  await page.setViewportSize({ width: 320, height })
  await page.evaluate(`document.documentElement.style.fontSize = '212.5%'`)
  for (const one of [...(await measure(phone)), ...(await brokenWords(phone))])
    found.push(`320 pixels, text twice as large: ${one}`)
  await page.evaluate(`document.documentElement.style.fontSize = ''`)
  await page.setViewportSize({ width, height })
  // What did not fit was zoomed out.
  await phone.devtools.send('Emulation.setPageScaleFactor', { pageScaleFactor: 1 })
  return found
}

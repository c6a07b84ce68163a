import type { Phone } from './page-phone.ts'

// What keeps people from using a screen who choose colours, contrast, text size or spacing, zoom in, or have only a keyboard.

/** In the page: names an element, and says whether it is shown. */
const prelude = `
  const nameOf = (one) => one.tagName.toLowerCase() + '.' + one.className + ' "' +
    (one.getAttribute('aria-label') ?? one.textContent).trim().slice(0, 40) + '"'
  const isShown = (one) => one.checkVisibility() && one.getClientRects().length > 0
  const all = (selector) => [...document.querySelectorAll(selector)].filter(isShown)
  // What is behind a dialog cannot have the focus.
  const top = document.querySelector('dialog[open]') ?? document.body
  const stops = all('a[href], button, input, select, textarea, summary').filter((one) => top.contains(one))
  const colour = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number)
  const isClear = (text) => colour(text)[3] === 0
  const groundOf = (one) => {
    const { backgroundColor } = getComputedStyle(one)
    return isClear(backgroundColor) && one.parentElement ? groundOf(one.parentElement) : backgroundColor
  }
  const light = (text) => {
    const [r, g, b] = colour(text).map((part) => part <= 10.31 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
  }
  const contrast = (one, other) => Math.max(light(one) / light(other), light(other) / light(one))
`
const inPage = (...scripts: string[]): string =>
  `(() => { ${prelude} return [${scripts.map((one) => `() => { ${one} }`).join()}].flatMap((one) => one()) })()`
const look = (phone: Phone, ...scripts: string[]): Promise<string[]> =>
  phone.page.evaluate(inPage(...scripts))

/** What is cut, too narrow for its words, or wider than the window. Lists cut a long headline; the request has it in full. */
const cut = `
  // innerWidth grows when a phone zooms out to show what does not fit.
  const screenWidth = document.documentElement.clientWidth
  const isOutside = (one) => {
    const { left, right } = one.getBoundingClientRect()
    return right > screenWidth + 1 || left < -1
  }
  const isCut = (one) => {
    if (one.closest('.asked, input, select')) return false
    const { overflowX, overflowY } = getComputedStyle(one)
    return (overflowX !== 'visible' && one.scrollWidth > one.clientWidth + 1) ||
      (overflowY === 'hidden' && !one.classList.contains('folded') && one.scrollHeight > one.clientHeight + 1)
  }
  const isNarrow = (one) =>
    one.matches('p, h1, h2, h3, dd') && one.textContent.length > 8 && one.clientWidth < 3 * parseFloat(getComputedStyle(one).fontSize)
  const found = all('body *').filter((one) =>
    !one.closest('svg, .unseen, option') && (isOutside(one) || isCut(one) || isNarrow(one)))
  const isWide = document.documentElement.scrollWidth > screenWidth
  return [...found.map((one) => 'cut: ' + nameOf(one)), ...(isWide ? ['wider than the window'] : [])]`

/** What has the focus is on the screen, and nothing covers any part of it. */
const covered = `
  const before = document.activeElement
  const found = new Set()
  for (const list of [stops, stops.toReversed()]) {
    for (const one of list) {
      document.activeElement.blur?.()
      one.focus()
      const { left, right, top, bottom } = one.getBoundingClientRect()
      const points = [0.1, 0.3, 0.5, 0.7, 0.9].map((part) => top + (bottom - top) * part)
      const seen = points.filter((y) => y >= 0 && y < innerHeight)
      const isFree = (y) => {
        const hit = document.elementFromPoint((left + right) / 2, y)
        return hit !== null && (one.contains(hit) || hit.contains(one))
      }
      if (seen.length === 0 || !seen.every(isFree)) found.add('the focus is covered: ' + nameOf(one))
    }
  }
  before?.focus({ preventScroll: true })
  return [...found]`

const small = `
  return stops
    .filter((one) => Math.min(one.getBoundingClientRect().width, one.getBoundingClientRect().height) < 24)
    .map((one) => 'smaller than 24 pixels: ' + nameOf(one))`

const bordered =
  'button, input:not([type=checkbox]), select, textarea, .card, .row, .member, .paper, .outcome:not(:empty), .warning:not(:empty), .problem:not(:empty), .arrival, #offline:not(:empty), .notice .picture, .mark, progress'

/** Borders and states that the colours of the page would otherwise show. */
const forced = `
  const found = all('${bordered}').filter((one) => {
    const { borderTopStyle, borderTopWidth, borderTopColor } = getComputedStyle(one)
    return borderTopStyle === 'none' || parseFloat(borderTopWidth) < 1 || contrast(borderTopColor, groundOf(one.parentElement)) < 3
  })
  const isBusy = document.querySelector('main').hasAttribute('data-busy')
  const [primary, plain] = ['.primary', '.plain, .danger'].map((kind) => all(kind)[0])
  const isSame = !isBusy && primary && plain && getComputedStyle(primary).backgroundColor === getComputedStyle(plain).backgroundColor
  const active = isBusy ? all('main .button').filter((one) => getComputedStyle(one).color === getComputedStyle(document.body).color) : []
  return [
    ...found.map((one) => 'no border: ' + nameOf(one)),
    ...(isSame ? ['like any other button: ' + nameOf(primary)] : []),
    ...active.map((one) => 'does not look busy: ' + nameOf(one)),
  ]`

/** The same for another browser, as an expression. */
export const forcedFlaws = inPage(forced)

const ring = `
  const one = document.activeElement
  if (one === document.body) return []
  const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(one)
  const isSeen = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && contrast(outlineColor, groundOf(one.parentElement)) >= 3
  return isSeen ? [] : ['no focus ring: ' + nameOf(one)]`

/** With more contrast, no border and no text is paler than it must be. */
const pale = `
  const edges = all('.plain, .danger, input, select, textarea, .card, .row, .member, .paper')
    .filter((one) => {
      const { borderTopColor } = getComputedStyle(one)
      return !isClear(borderTopColor) && contrast(borderTopColor, groundOf(one.parentElement)) < 4.5
    })
  const words = all('main p, main dt, main dd, main span, main a, main label, main h1, main h2, main h3')
    .filter((one) => one.textContent.trim() !== '' && !one.closest('.button') && contrast(getComputedStyle(one).color, groundOf(one)) < 4.5)
  return [...edges, ...words].map((one) => 'pale: ' + nameOf(one))`

const textSize = (size: string): string => `
  document.documentElement.style.fontSize = '${size}'
  return []`

const spaced = `
  const sheet = new CSSStyleSheet()
  sheet.replaceSync('* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important } p { margin-block-end: 2em !important }')
  document.adoptedStyleSheets = [sheet]
  return []`
const unspaced = `
  document.adoptedStyleSheets = []
  return []`

const moving = `return document.getAnimations().map(({ animationName }) => 'moving: ' + animationName)`

/** Presses Tab, looks at the ring, and puts the focus back. */
const lookAtRing = async (phone: Phone): Promise<string[]> => {
  await phone.page.evaluate('void (globalThis.before = document.activeElement)')
  await phone.page.keyboard.press('Tab')
  const goBack = 'before.focus({ preventScroll: true }); return []'
  return look(phone, ring, goBack)
}

const sizes = [
  { name: 'a small phone', width: 320, height: 568, text: '' },
  // A window of 1280 by 1024 pixels, zoomed to 400 %.
  { name: 'zoomed to 400 %', width: 320, height: 256, text: '' },
  // The largest text of iOS.
  { name: 'the largest text', width: 375, height: 667, text: '53px' },
]

/** Every hindrance on this screen, in the settings that people choose. */
export const hindrances = async (phone: Phone): Promise<string[]> => {
  const { page } = phone
  const found: string[] = []
  const add = (view: string, flaws: string[]): void => {
    found.push(...flaws.map((flaw) => `${view}: ${flaw}`))
  }
  const before = page.viewportSize()!
  add('as it is', await look(phone, small, covered))
  for (const { name, width, height, text } of sizes) {
    await page.setViewportSize({ width, height })
    add(name, await look(phone, textSize(text), cut, covered))
  }
  await look(phone, textSize(''))
  await page.setViewportSize(before)
  // What did not fit was zoomed out.
  await phone.devtools.send('Emulation.setPageScaleFactor', { pageScaleFactor: 1 })
  add('spaced text', await look(phone, spaced, cut, unspaced))
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ forcedColors: 'none', contrast: 'more', colorScheme })
    add(`more contrast, ${colorScheme}`, await look(phone, pale))
    if (colorScheme === 'light') add('more contrast', await lookAtRing(phone))
    await page.emulateMedia({ forcedColors: 'active', contrast: 'no-preference', colorScheme })
    add(`colours of the system, ${colorScheme}`, await look(phone, forced))
  }
  add('colours of the system', await lookAtRing(phone))
  await page.emulateMedia({ forcedColors: 'none', colorScheme: 'light' })
  add('less motion', await look(phone, moving))
  return found
}

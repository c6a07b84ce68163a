import axe from 'axe-core'
import type { Phone } from './approver-phone.ts'

type Screen = Pick<Phone, 'page' | 'devtools'>
type Finding = { impact: string; id: string; nodes: { html: string }[] }

/** Through the debugger, because the content security policy allows no injected script. */
const check = async ({ page, devtools }: Screen, options = ''): Promise<Finding[]> => {
  if (await page.evaluate('!globalThis.axe'))
    await devtools.send('Runtime.evaluate', { expression: axe.source })
  return page.evaluate(`axe.run(${options}).then(({ violations }) => violations)`)
}

const lineOf = ({ id, nodes }: Finding): string => `${id}: ${nodes.map(({ html }) => html).join(' ')}`

const measure = async ({ page }: Pick<Phone, 'page'>): Promise<string[]> => {
  const small: string[] =
    await page.evaluate(`[...document.querySelectorAll('button, a, input, select, textarea, summary')]
    .filter((one) => one.getClientRects().length > 0 && one.getBoundingClientRect().height < 44)
    .map((one) => 'small: ' + one.textContent)`)
  const wide: boolean = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
  return [...small, ...(wide ? ['wider than the phone'] : [])]
}

export const flaws = async (phone: Screen): Promise<string[]> => [
  ...(await check(phone)).filter(({ impact }) => impact === 'serious' || impact === 'critical').map(lineOf),
  ...(await measure(phone)),
]

/** Any violation of axe, in light and dark, and what does not fit on the smallest screen with text at twice the size. */
export const flawsInEachView = async (phone: Phone): Promise<string[]> => {
  const { page } = phone
  const found = [...(await check(phone)).map(lineOf), ...(await measure(phone))]
  await page.emulateMedia({ colorScheme: 'dark' })
  found.push(...(await check(phone, `{ runOnly: ['color-contrast'] }`)).map((one) => `dark: ${lineOf(one)}`))
  await page.emulateMedia({ colorScheme: 'light' })
  const { width, height } = page.viewportSize()!
  await page.setViewportSize({ width: 320, height })
  await page.evaluate(`document.documentElement.style.fontSize = '212.5%'`)
  found.push(...(await measure(phone)).map((one) => `320 pixels, text twice as large: ${one}`))
  await page.evaluate(`document.documentElement.style.fontSize = ''`)
  await page.setViewportSize({ width, height })
  // What did not fit was zoomed out.
  await phone.devtools.send('Emulation.setPageScaleFactor', { pageScaleFactor: 1 })
  return found
}

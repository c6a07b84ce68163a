import axe from 'axe-core'
import type { Phone } from './approver-phone.ts'

type Finding = { impact: string; id: string; nodes: { html: string }[] }

/** Checks besides those of axe: a screen wider than the phone, a target smaller than a finger. */
export const flaws = async ({ page, devtools }: Phone): Promise<string[]> => {
  // Through the debugger, because the content security policy allows no injected script.
  await devtools.send('Runtime.evaluate', { expression: axe.source })
  const found: Finding[] = await page.evaluate('axe.run().then(({ violations }) => violations)')
  const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  const small: string[] =
    await page.evaluate(`[...document.querySelectorAll('button, a, input, select, textarea')]
    .filter((one) => one.getBoundingClientRect().height < 44).map((one) => 'small: ' + one.textContent)`)
  const wide: boolean = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
  return [
    ...serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`),
    ...small,
    ...(wide ? ['wider than the phone'] : []),
  ]
}

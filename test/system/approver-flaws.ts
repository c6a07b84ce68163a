import axe from 'axe-core'
import type { Phone } from './approver-phone.ts'

type Finding = { impact: string; id: string; nodes: { html: string }[] }

/** Beside what axe finds: a screen that is wider than the phone, a target that is smaller than a finger. */
export const flaws = async ({ page, devtools }: Phone): Promise<string[]> => {
  // Through the debugger, as the policy of the page lets no script in.
  await devtools.send('Runtime.evaluate', { expression: axe.source })
  const found: Finding[] = await page.evaluate('axe.run().then(({ violations }) => violations)')
  const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  const small: string[] = await page.evaluate(`[...document.querySelectorAll('button, a, input')]
    .filter((one) => one.getBoundingClientRect().height < 44).map((one) => 'small: ' + one.textContent)`)
  const wide: boolean = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
  return [
    ...serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`),
    ...small,
    ...(wide ? ['wider than the phone'] : []),
  ]
}

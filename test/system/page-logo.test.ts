import { expect, test } from 'vitest'
import { dataOf } from '../service/fixtures.ts'
import { flaws } from './page-flaws.ts'
import type { Phone } from './page-phone.ts'
import { installHooks, stage } from './open-stage.ts'
import { png } from './png.ts'

// The logo of an organization at the head of the page.

installHooks()

const setLogo = async (image: string): Promise<void> => {
  const path = `/svc/v1/organizations/${stage.org.id}/logo`
  dataOf(await stage.service.call('POST', path, { body: { image } }))
}
const openLink = async (): Promise<Phone> => {
  const phone = await stage.openPhone()
  await phone.page.goto(await stage.linkFor((await stage.person()).id))
  await phone.sees('Hello Ada')
  return phone
}

const shown = `(() => {
  const image = document.querySelector('header img.logo')
  const { objectFit, backgroundColor } = getComputedStyle(image)
  return { width: image.naturalWidth, objectFit, backgroundColor }
})()`

test.each([
  ['square', 64, 64],
  ['wide', 400, 60],
  ['tall', 60, 400],
])('a %s logo is shown whole beside the name, on white in light and dark', async (_, width, height) => {
  await setLogo(png(width, height, [20, 20, 20, 255]))
  const { page, ...phone } = await openLink()
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const logo = page.locator('header img.logo')
    await expect
      .poll(() => page.evaluate(shown))
      .toEqual({ width, objectFit: 'contain', backgroundColor: 'rgb(255, 255, 255)' })
    const [box, name] = [await logo.boundingBox(), await page.locator('#organization').boundingBox()]
    expect(box!.height).toBeLessThan(40)
    expect(box!.width).toBeGreaterThan(width > height ? 80 : 25)
    expect(box!.width).toBeLessThan(120)
    expect(name!.x).toBeGreaterThan(box!.x + box!.width)
    expect(await flaws({ page, ...phone })).toEqual([])
  }
  expect(phone.misdeeds).toEqual([])
})

test.each([
  ['is missing', { status: 404, body: '' }],
  ['is damaged', { status: 200, contentType: 'image/png', body: 'not an image' }],
])('a logo that %s leaves the initials and no hole', async (_, answer) => {
  await setLogo(png(64, 64, [20, 20, 20, 255]))
  const phone = await stage.openPhone()
  await phone.page.route('**/approver/logo/**', (route) => route.fulfill(answer))
  await phone.page.goto(await stage.linkFor((await stage.person()).id))
  await phone.sees('Hello Ada')
  await phone.page.locator('header span.logo').getByText('A', { exact: true }).waitFor()
  expect(await phone.page.locator('header img').count()).toBe(0)
})

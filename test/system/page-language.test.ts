import { describe, expect, test } from 'vitest'
import { flaws } from './page-flaws.ts'
import type { Phone } from './page-phone.ts'
import { push } from './page-push.ts'
import { installHooks, stage } from './open-stage.ts'

installHooks({ notifications: true })

const narrow = { viewport: { width: 320, height: 568 } }

type Person = { id: number; mobile: string }

/** A phone whose browser has this language, on the screen of a link. */
const opened = async (locale: string, { id }: Person): Promise<Phone> => {
  const phone = await stage.openPhone('light', { ...narrow, locale })
  await phone.page.goto(await stage.linkFor(id))
  return phone
}

/** Registers a phone in German, Arabic or Japanese, as far as the inbox. */
const enrolled = async (
  locale: string,
  user: Person,
  [register, goOn, notNow, inbox]: string[],
): Promise<Phone> => {
  const phone = await opened(locale, user)
  await phone.tap(register!)
  await phone.tap(goOn!)
  await phone.tap(notNow!)
  await phone.sees(inbox!)
  return phone
}

const german = ['Dieses Gerät registrieren', 'Weiter', 'Jetzt nicht', 'Keine offenen Anfragen']
const arabic = ['تسجيل هذا الجهاز', 'متابعة', 'ليس الآن', 'لا توجد طلبات في الانتظار']

const languageOf = (phone: Phone): Promise<unknown> =>
  phone.page.evaluate('[document.documentElement.lang, document.documentElement.dir].join()')

/** How far the page is wider than the screen. */
const overflow = (phone: Phone): Promise<unknown> =>
  phone.page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')

/** Approving waits until the whole text was seen. */
/** A jump over a part of the text does not count. */
const readAll = (phone: Phone): Promise<unknown> =>
  phone.page.evaluate(`(async () => {
    for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight / 4) {
      scrollTo(0, y)
      await new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)))
    }
  })()`)

const choose = async (phone: Phone, current: string, name: string): Promise<void> => {
  const list = phone.page.locator('#language')
  expect(await list.locator('option:checked').textContent()).toBe(current)
  await list.selectOption({ label: name })
}

describe('the language of the page', () => {
  test('is that of the browser, and German fits a width of 320 pixels on every screen', async () => {
    const user = await stage.person()
    await stage.makeAdmin(user)
    const phone = await opened('de-AT', user)
    await phone.sees(/^Guten Tag/)
    expect(await languageOf(phone)).toBe('de,ltr')
    expect(await overflow(phone)).toBe(0)
    await phone.tap(german[0]!)
    await phone.sees('Dieses Gerät ist registriert')
    expect(await overflow(phone)).toBe(0)
    await phone.tap(german[1]!)
    await phone.sees('Mitteilungen aktivieren?')
    expect(await overflow(phone)).toBe(0)
    await phone.tap(german[2]!)
    await phone.sees(german[3]!)
    for (const place of ['Mitglieder', 'Geräte', 'Agenten und Terminals']) {
      await phone.page.getByRole('link', { name: new RegExp(place) }).click()
      await phone.sees(place)
      expect([place, await overflow(phone)]).toEqual([place, 0])
      await phone.page.getByRole('link', { name: 'Alle Anfragen' }).click()
      await phone.sees(german[3]!)
    }
    const { request_id } = await stage.ask(user, { number: true })
    await phone.sees('1 Anfrage wartet')
    expect(await overflow(phone)).toBe(0)
    await phone.page.locator(`a[href="#request=${request_id}"]`).click()
    await phone.page.getByRole('button', { name: 'Ablehnen', exact: true }).waitFor()
    await readAll(phone)
    await phone.tap('Genehmigen')
    await phone.page.getByLabel('Erste Ziffer').waitFor()
    expect(await overflow(phone)).toBe(0)
    await phone.tap('Ablehnen')
    await phone.sees('Abgelehnt')
    expect(await overflow(phone)).toBe(0)
    expect(phone.misdeeds).toEqual([])
  })

  test('can be chosen from the list, and is kept', async () => {
    const phone = await stage.enrolled(await stage.person())
    await phone.page.setViewportSize({ width: 320, height: 568 })
    await choose(phone, 'English', '日本語')
    await phone.sees('待機中のリクエストはありません')
    // The list has the focus, on the screen.
    const focus = `(({ id }, { bottom }) => bottom <= innerHeight && id)(
      document.activeElement, document.activeElement.getBoundingClientRect())`
    await expect.poll(() => phone.page.evaluate(focus)).toBe('language')
    // As the browser reads it when the page is installed.
    const { url, data } = await phone.devtools.send('Page.getAppManifest')
    expect([url, JSON.parse(data!)]).toMatchObject([/ja\.webmanifest$/, { name: '承認', lang: 'ja' }])
    expect(await languageOf(phone)).toBe('ja,ltr')
    await phone.page.reload()
    await phone.sees('待機中のリクエストはありません')
    await choose(phone, '日本語', 'العربية')
    await phone.sees(arabic[3]!)
    expect(await languageOf(phone)).toBe('ar,rtl')
    await choose(phone, 'العربية', 'English')
    await phone.sees('No open requests')
    expect(await languageOf(phone)).toBe('en,ltr')
  })

  test('can be chosen before signing in and before registering, which keeps what was typed', async () => {
    const phone = await opened('en', await stage.person())
    await phone.sees(/^Hello/)
    await choose(phone, 'English', 'Deutsch')
    await phone.sees(/^Guten Tag/)
    const name = phone.page.getByLabel('Name dieses Geräts')
    expect(await name.inputValue()).toMatch(/ von Ada$/)
    await name.fill('Küche')
    await choose(phone, 'Deutsch', 'العربية')
    await phone.sees(/^مرحبًا/)
    expect(await phone.page.locator('#name').inputValue()).toBe('Küche')
    expect([await languageOf(phone), await overflow(phone)]).toEqual(['ar,rtl', 0])
    expect(await phone.page.evaluate('document.activeElement.id')).toBe('language')
    expect(await flaws(phone)).toEqual([])
    await phone.tap(arabic[0]!)
    await phone.sees('هذا الجهاز مسجَّل')
    const other = await stage.openPhone('light', narrow)
    await other.page.goto(`${stage.origin}/approver`)
    await other.sees('Sign in')
    await choose(other, 'English', '日本語')
    await other.page.getByRole('heading', { name: 'サインイン' }).waitFor()
    expect(await flaws(other)).toEqual([])
    await other.page.reload()
    await other.page.getByRole('heading', { name: 'サインイン' }).waitFor()
    expect([...phone.misdeeds, ...other.misdeeds]).toEqual([])
  })

  test('can be chosen where storage is blocked, until the page is closed', async () => {
    const phone = await stage.enrolled(await stage.person())
    await phone.page.addInitScript(
      `Object.defineProperty(globalThis, 'localStorage', { get() { throw new DOMException('', 'SecurityError') } })`,
    )
    await phone.page.reload()
    await phone.sees('No open requests')
    await choose(phone, 'English', 'Deutsch')
    await phone.sees(german[3]!)
    await phone.page.reload()
    await phone.sees('No open requests')
    expect(phone.misdeeds).toEqual([])
  })

  test.each([
    { status: 200, contentType: 'text/html', body: '<h1>Sign in to the network</h1>' },
    { status: 503, contentType: 'application/json', body: '{"status":"error"}' },
  ])('is English if its texts cannot be loaded: $status', async (answer) => {
    const phone = await stage.openPhone('light', { ...narrow, locale: 'de', serviceWorkers: 'block' })
    await phone.page.route(/\/approver\/de\.json/, (route) => route.fulfill(answer))
    await phone.page.goto(`${stage.origin}/approver`)
    await phone.sees('Sign in')
    expect(await languageOf(phone)).toBe('en,ltr')
  })

  test('comes as soon as its texts can be loaded, and the page says why it waits', async () => {
    const phone = await stage.openPhone('light', { ...narrow, locale: 'de', serviceWorkers: 'block' })
    await phone.page.route(/\/approver\/(?:de|en)\.json/, (route) => route.abort())
    await phone.page.goto(`${stage.origin}/approver`)
    const notice = phone.page.getByText('No connection. Trying again automatically.')
    await notice.waitFor()
    await phone.page.unroute(/\/approver\/(?:de|en)\.json/)
    await phone.sees('Anmelden')
    expect([await notice.count(), await languageOf(phone)]).toEqual([0, 'de,ltr'])
  })

  test('is also that of its notifications', async () => {
    const user = await stage.person()
    const phone = await enrolled('de', user, german)
    await phone.page.evaluate('navigator.serviceWorker.ready.then(() => undefined)')
    expect(await push(phone, { test: true, organization: 'acme' })).toMatchObject([
      { title: 'acme: Testmitteilung', body: 'Mitteilungen funktionieren auf diesem Gerät.' },
    ])
    await choose(phone, 'Deutsch', '日本語')
    await phone.sees('待機中のリクエストはありません')
    // The page does not wait until its worker can read it.
    const noted = `caches.match('/approver/notes/language').then((one) => one.text())`
    await expect.poll(() => phone.page.evaluate(noted)).toBe('ja')
    expect(await push(phone, { test: true })).toMatchObject([
      { title: 'テスト通知', body: 'このデバイスで通知を受け取れます。' },
    ])
  })
})

describe('in Arabic, on a width of 320 pixels', () => {
  test('a request is approved, with the digits of the region', async () => {
    const user = await stage.person()
    const phone = await enrolled('ar-EG', user, arabic)
    expect(await languageOf(phone)).toBe('ar,rtl')
    const { request_id, number } = await stage.ask(user, {
      action: 'نقل 40.000 إلى Contoso Ltd.',
      reason: 'Invoice 7',
      number: true,
    })
    await phone.sees('طلب واحد في الانتظار')
    const file = { name: 'plan.txt', size: 4, sha256: 'a'.repeat(64) }
    const second = await stage.ask(user, { action: 'second', subject: { type: 'file', data: file } })
    await phone.sees('طلبان في الانتظار')
    expect(await overflow(phone)).toBe(0)
    const card = phone.page.locator(`a[href="#request=${request_id}"]`)
    // Or the start of the last line would be cut instead of its end.
    const directions = await phone.page.evaluate(
      "[...document.querySelectorAll('.asked > *')].map((one) => getComputedStyle(one).direction)",
    )
    expect(directions).toEqual(['rtl', 'ltr'])
    expect(await card.locator('.left').textContent()).toMatch(/^بقي \u2068?[٠-٩]+:[٠-٩]{2}\u2069?$/)
    await card.click()
    await phone.sees(/Contoso/)
    await readAll(phone)
    const approve = phone.page.getByRole('button', { name: 'موافقة', exact: true })
    await approve.waitFor()
    expect(await overflow(phone)).toBe(0)
    const back = await phone.page.getByRole('link', { name: 'كل الطلبات' }).boundingBox()
    expect(back!.x + back!.width).toBeGreaterThan(290)
    await approve.click()
    // As an Arabic keyboard types it.
    const typed = [...number!].map((digit) => String.fromCharCode(0x660 + Number(digit))).join('')
    await phone.page.getByLabel('الخانة الأولى').fill(typed)
    await approve.click()
    await phone.sees('تمت الموافقة')
    await phone.page.getByText(/^لقد وافقت على هذا \u2068في \u2068\u200f?[٠-٩]{1,2}:[٠-٩]{2}/).waitFor()
    expect(await overflow(phone)).toBe(0)
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'approved' })
    await phone.page.goto(`${stage.origin}/approver#request=${second.request_id}`)
    const term = phone.page.getByRole('term')
    await term.first().waitFor()
    expect((await term.allTextContents()).slice(0, 3)).toEqual(['الاسم', 'الحجم', 'SHA-256'])
    expect(phone.misdeeds).toEqual([])
  })
})

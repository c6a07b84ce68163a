import { withoutPhones } from '../../src/cli/terminal/mask-prose.ts'
import { expect, test } from 'vitest'
import { svc } from '../e2e/processes.ts'
import { ask } from '../service/approver.ts'
import { createMember, createTenant, dataOf } from '../service/fixtures.ts'
import { devicesOf } from './page-faults.ts'
import {
  approves,
  backToInbox,
  chooses,
  enrolled,
  goesToInbox,
  hasFocus,
  narrowPhone,
  opens,
  press,
  pressButton,
  pressLink,
  reads,
  registers,
  sees,
  text,
} from './page-keyboard.ts'
import type { Phone } from './page-phone.ts'
import { installHooks, stage } from './open-stage.ts'

// More of what a person does in Arabic, on a width of 320 pixels, with the keyboard alone. Nothing here is clicked or tapped.

installHooks()

test('an administrator replaces a lost phone, and the new one approves after its cooling period', async () => {
  const admin = await stage.person({ first_name: 'Katherine', last_name: 'Johnson' })
  await stage.makeAdmin(admin)
  const chief = await enrolled(admin)
  const grace = await stage.person({ first_name: 'Grace', last_name: 'Hopper' })
  const lost = await enrolled(grace)

  await pressLink(chief, 'members')
  await sees(chief, 'members.title')
  await press(chief.page.locator('summary', { hasText: text('members.active') }))
  await press(chief.page.getByRole('link', { name: 'Grace Hopper' }))
  await sees(chief, 'members.member')
  await press(chief.page.getByRole('button', { name: text('devices.remove') }))
  await reads(chief, 'members.removeLast')
  await pressButton(chief, 'devices.remove')
  await reads(chief, 'devices.removedNow')
  await sees(lost, 'enrollment.removed')
  await pressButton(chief, 'members.sendLink')
  await reads(chief, 'members.linked')

  const sent = new RegExp(
    `sms \\(enrollment\\) to \\${withoutPhones(`+1${grace.mobile}`)}.*?(http\\S+#enroll=[\\w-]+)`,
  )
  await expect.poll(() => sent.test(stage.log())).toBe(true)
  const replacement = await narrowPhone()
  await stage.setPolicy({ recovery_delay_s: 8 })
  await registers(replacement, sent.exec(stage.log())![1]!)
  await sees(replacement, 'enrollment.waitingForAdmin')
  await pressButton(replacement, 'enrollment.checkAgain')
  await reads(replacement, 'enrollment.notApprovedYet')

  await pressLink(chief, 'members')
  await sees(chief, 'members.title')
  await backToInbox(chief)
  await pressLink(chief, 'devices')
  await sees(chief, 'devices.title')
  await chief.page.getByRole('heading', { name: 'Grace Hopper' }).waitFor()
  await pressButton(chief, 'common.approve')
  await reads(chief, 'devices.approvedLater')
  await pressButton(replacement, 'enrollment.checkAgain')
  await sees(replacement, 'enrollment.approvedLater')
  await expect.poll(() => devicesOf(grace)).toMatchObject([{ state: 'revoked' }, { state: 'active' }])
  await pressButton(replacement, 'enrollment.checkAgain')
  await goesToInbox(replacement)

  const { request_id } = await stage.ask(grace)
  await approves(replacement, request_id)
  expect(await stage.statusOf(request_id)).toMatchObject({ status: 'approved' })
  await stage.setPolicy({ recovery_delay_s: 0 })
  expect([...chief.misdeeds, ...lost.misdeeds, ...replacement.misdeeds]).toEqual([])
})

/** As an Arabic keyboard types them. */
const arabicDigits = (number: string): string =>
  number.replaceAll(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit)))

const otherThan = (number: string): string => (number === '47' ? '48' : '47')

/** Opens a request with a number, up to its two boxes. */
const reachesBoxes = async (): Promise<{ phone: Phone; id: string; number: string }> => {
  const user = await stage.person()
  const phone = await enrolled(user)
  const { request_id: id, number } = await stage.ask(user, { number: true })
  await opens(phone, id)
  await pressButton(phone, 'common.approve')
  await reads(phone, 'request.enterNumberWhy')
  return { phone, id, number: number! }
}

test('types the number in Arabic digits, and corrects a wrong one', async () => {
  const { phone, id, number } = await reachesBoxes()
  const { keyboard } = phone.page
  const [first, second] = [
    phone.page.getByLabel(text('request.firstDigit')),
    phone.page.getByLabel(text('request.secondDigit')),
  ]
  expect(await hasFocus(first)).toBe(true)
  await keyboard.press('Enter')
  await reads(phone, 'request.twoDigits')
  expect(await hasFocus(first)).toBe(true)
  await keyboard.type(arabicDigits(otherThan(number)))
  expect([await first.inputValue(), await second.inputValue()]).toEqual([...otherThan(number)])
  expect(await hasFocus(second)).toBe(true)
  await keyboard.press('Enter')
  await reads(phone, 'request.wrongNumber')
  expect(await hasFocus(first)).toBe(true)
  expect([await first.inputValue(), await second.inputValue()]).toEqual(['', ''])
  // A slip: one digit is taken back.
  await keyboard.type(arabicDigits(otherThan(number)))
  await keyboard.press('Backspace')
  await keyboard.press('Backspace')
  expect(await hasFocus(first)).toBe(true)
  await keyboard.type(arabicDigits(number))
  await pressButton(phone, 'common.approve')
  await sees(phone, 'request.approved')
  expect(await stage.statusOf(id)).toMatchObject({ status: 'approved' })
  expect(phone.misdeeds).toEqual([])
})

test('reads that a second wrong number denies the request', async () => {
  const { phone, id, number } = await reachesBoxes()
  for (const _ of [1, 2]) {
    await phone.page.keyboard.type(arabicDigits(otherThan(number)))
    await phone.page.keyboard.press('Enter')
    await reads(phone, _ === 1 ? 'request.wrongNumber' : 'request.wrongTwice')
  }
  await sees(phone, 'request.denied')
  expect(await stage.statusOf(id)).toMatchObject({ status: 'denied' })
  expect(phone.misdeeds).toEqual([])
})

/** A key of an organization that may only ask. */
const keyOf = async (org_id: number): Promise<string> =>
  dataOf(await stage.service.call('POST', '/svc/v1/keys', { body: { name: 'ci', org_id, scopes: ['ask'] } }))
    .key

test('finds history, devices and receipts of each of two organizations', async () => {
  const ada = await stage.person()
  const phone = await enrolled(ada)
  const globex = await createTenant(stage.service, 'globex')
  const other = await createMember(stage.service, globex.id, 91)
  const path = `/svc/v1/organizations/${globex.id}/users/${other.id}/enrollments`
  await registers(phone, dataOf(await stage.service.call('POST', path, { body: {} })).url)
  await goesToInbox(phone)

  const asked = [
    { org: 'globex', action: 'نشر الإصدار 7', approver: other, key: await keyOf(globex.id) },
    { org: 'acme', action: 'حذف النسخ الاحتياطية', approver: ada, key: await keyOf(stage.org.id) },
  ] as const
  const ids: Record<string, string> = {}
  for (const { org, action, approver, key } of asked) {
    ids[org] = dataOf(await ask(stage.service, approver, { action }, key)).request_id
    await approves(phone, ids[org]!)
    await pressButton(phone, 'common.done')
    await sees(phone, 'inbox.caughtUp')
  }

  for (const { org, action } of asked) {
    await chooses(phone, org)
    await pressLink(phone, 'devices')
    await sees(phone, 'devices.title')
    await reads(phone, 'devices.suggestSecond')
    expect(await phone.page.locator('li.member').count()).toBe(1)
    await press(phone.page.getByRole('button', { name: text('devices.rename') }))
    await phone.page.keyboard.press('ControlOrMeta+a')
    await phone.page.keyboard.type(`هاتف ${org}`)
    await phone.page.keyboard.press('Enter')
    await reads(phone, 'devices.renamed')
    await backToInbox(phone)
    await pressLink(phone, 'history')
    await reads(phone, 'history.titleIn')
    await phone.page.getByText(action).waitFor()
    expect(await phone.page.locator('a.card').count()).toBe(1)
    await pressLink(phone, `decision=${ids[org]}`)
    await sees(phone, 'history.detail')
    const download = phone.page.waitForEvent('download')
    await pressButton(phone, 'history.receipt')
    const file = await (await download).path()
    const check = (name: string) =>
      svc([
        'approve',
        'verify',
        file,
        '--org',
        name,
        '--jwks-url',
        `${stage.origin}/.well-known/jwks.json`,
        '--action',
        action,
      ])
    expect(await check(org)).toMatchObject({ exit: 0 })
    expect(await check(org === 'acme' ? 'globex' : 'acme')).toMatchObject({ exit: 1 })
    await pressLink(phone, 'history')
    await reads(phone, 'history.titleIn')
    await backToInbox(phone)
  }
  // The name of a device is that in its organization.
  for (const { org } of asked) {
    await chooses(phone, org)
    await phone.page.getByText(`هاتف ${org}`).waitFor()
  }
  expect(phone.misdeeds).toEqual([])
})

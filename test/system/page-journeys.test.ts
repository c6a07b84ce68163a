import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { safeJson } from '../../src/core/safe-text.ts'
import { ask } from '../service/approver.ts'
import { createMember, createTenant, dataOf } from '../service/fixtures.ts'
import {
  addsDevice,
  approves,
  backToInbox,
  chooses,
  deniesWithNote,
  enrolled,
  fits,
  goesToInbox,
  hasFocus,
  narrowPhone,
  press,
  pressButton,
  pressLink,
  reach,
  reads,
  registers,
  reports,
  sees,
  text,
} from './page-keyboard.ts'
import { installHooks, stage } from './open-stage.ts'

// What a new user does, in Arabic, on a width of 320 pixels, with the keyboard alone. Nothing here is clicked or tapped.

installHooks()

test('registers two phones in two organizations, and approves on one of them', async () => {
  const ada = await stage.person()
  const globex = await createTenant(stage.service, 'globex')
  const other = await createMember(stage.service, globex.id, 91)
  const [first, second] = [await enrolled(ada), await narrowPhone()]
  const path = `/svc/v1/organizations/${globex.id}/users/${other.id}/enrollments`
  await registers(first, dataOf(await stage.service.call('POST', path, { body: {} })).url)
  await goesToInbox(first)
  await addsDevice(first, second)
  await press(first.page.getByRole('link', { name: text('common.done') }))
  await sees(first, 'devices.title')
  await backToInbox(first)
  await chooses(first, 'acme')
  await addsDevice(first, second)
  const { request_id } = await stage.ask(ada)
  const left = dataOf(await ask(stage.service, other)).request_id
  await second.page.locator(`a[href="#request=${left}"]`).getByText('globex', { exact: true }).waitFor()
  await approves(second, request_id)
  expect(await stage.statusOf(request_id)).toMatchObject({ status: 'approved' })
  expect(await stage.statusOf(left)).toMatchObject({ status: 'pending' })
  await press(first.page.getByRole('link', { name: text('common.done') }))
  await sees(first, 'devices.title')
  await backToInbox(first)
  await first.page.locator(`a[href="#request=${left}"]`).waitFor()
  await first.page.locator(`a[href="#request=${request_id}"]`).waitFor({ state: 'detached' })
  expect([...first.misdeeds, ...second.misdeeds]).toEqual([])
})

test('denies with a note', async () => {
  const user = await stage.person()
  const phone = await enrolled(user)
  const { request_id } = await stage.ask(user, { action: 'حذف النسخ الاحتياطية', reason: 'Ticket 7' })
  await deniesWithNote(phone, request_id, 'اسأل Grace أولًا')
  await reads(phone, 'request.yourNote')
  expect(await stage.statusOf(request_id)).toMatchObject({ status: 'denied', note: 'اسأل Grace أولًا' })
  await pressButton(phone, 'common.done')
  await sees(phone, 'inbox.caughtUp')
  await pressLink(phone, 'history')
  await sees(phone, 'history.title')
  const card = phone.page.locator(`a[href="#decision=${request_id}"]`)
  await reach(card)
  // A list that changes does not take the focus away.
  const next = (await stage.ask(user)).request_id
  const news = phone.page.locator(`a[href="#request=${next}"]`)
  await news.waitFor()
  await stage.service.call('POST', `/svc/v1/approvals/${next}/withdraw`, { body: {} })
  await phone.page.locator(`a[href="#decision=${next}"]`).waitFor()
  expect(await hasFocus(card)).toBe(true)
  expect(phone.misdeeds).toEqual([])
})

test('reports a request that the person did not cause, and takes it back', async () => {
  const user = await stage.person()
  const phone = await enrolled(user)
  const { request_id } = await stage.ask(user)
  await reports(phone, request_id)
  expect(await stage.statusOf(request_id)).toMatchObject({ status: 'denied' })
  await expect(stage.ask(user)).rejects.toThrow('muted')
  await pressButton(phone, 'mutes.undo')
  await reads(phone, 'mutes.unmuted')
  await expect(stage.ask(user)).resolves.toHaveProperty('request_id')
  expect(phone.misdeeds).toEqual([])
})

test('recovers from a lost phone with another device', async () => {
  const user = await stage.person()
  const [lost, backup] = [await enrolled(user), await narrowPhone()]
  await addsDevice(lost, backup)
  await pressButton(backup, 'inbox.signOut')
  await sees(backup, 'enrollment.signIn')
  await press(backup.page.getByText(text('devices.lostQuestion')))
  await reads(backup, 'devices.lostOther')
  await pressButton(backup, 'enrollment.signIn')
  await sees(backup, 'inbox.caughtUp')
  await pressLink(backup, 'devices')
  await sees(backup, 'devices.title')
  const here = backup.page.getByText(text('devices.thisDevice'), { exact: true })
  const row = backup.page.locator('li.member').filter({ hasNot: here })
  const remove = row.getByRole('button').last()
  await press(remove)
  await reads(backup, 'devices.removeOther')
  await pressButton(backup, 'common.cancel')
  await fits(backup)
  // Cancelling leads back to where the question was asked.
  expect(await hasFocus(remove)).toBe(true)
  await press(remove)
  await pressButton(backup, 'devices.remove')
  await reads(backup, 'devices.removedNow')
  await sees(lost, 'enrollment.removed')
  await backToInbox(backup)
  await sees(backup, 'inbox.caughtUp')
  const { request_id } = await stage.ask(user)
  await approves(backup, request_id)
  expect(await stage.statusOf(request_id)).toMatchObject({ status: 'approved' })
  expect([...lost.misdeeds, ...backup.misdeeds]).toEqual([])
})

test('finds every decision in the history, with its receipt', async () => {
  const user = await stage.person()
  const phone = await enrolled(user)
  const decide = [approves, deniesWithNote, reports]
  const ids: string[] = []
  for (const [n, does] of decide.entries()) {
    const { request_id } = await stage.ask(user, { action: `نشر الإصدار 4.${n}` })
    ids.push(request_id)
    await does(phone, request_id, 'ليس اليوم')
    await pressButton(phone, 'common.done')
    await sees(phone, 'inbox.caughtUp')
  }
  await pressLink(phone, 'history')
  await sees(phone, 'history.title')
  await phone.page.getByText('ليس اليوم').waitFor()
  for (const [n, id] of ids.entries()) {
    await pressLink(phone, `decision=${id}`)
    await sees(phone, 'history.detail')
    await phone.page.getByText(`نشر الإصدار 4.${n}`).waitFor()
    await reads(phone, n === 0 ? 'request.approved' : 'request.denied')
    const download = phone.page.waitForEvent('download')
    await pressButton(phone, 'history.receipt')
    const file = await download
    const { attestation } = (await stage.statusOf(id)) as unknown as { attestation: object }
    expect(readFileSync(await file.path(), 'utf8')).toBe(`${safeJson(attestation, 2)}\n`)
    await pressLink(phone, 'history')
    await sees(phone, 'history.title')
  }
  expect(phone.misdeeds).toEqual([])
})

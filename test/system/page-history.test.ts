import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { safeJson } from '../../src/core/safe-text.ts'
import { flaws } from './page-flaws.ts'
import type { Phone } from './page-phone.ts'
import { installHooks, open, stage } from './open-stage.ts'

installHooks()

const goTo = async (phone: Phone, place: string, heading: string): Promise<void> => {
  await phone.page.evaluate(`location.hash = '${place}'`)
  await phone.sees(heading)
}
const card = ({ page }: Phone, text: string) => page.locator('a.card').filter({ hasText: text })

/** Decides a request at the page. */
const decides = async (phone: Phone, id: string, decision: 'Approve' | 'Deny'): Promise<void> => {
  await open(phone, id)
  await phone.tap(decision)
  await phone.sees(decision === 'Approve' ? 'Approved' : 'Denied')
  await phone.page.getByRole('button', { name: 'Done' }).click()
}

describe('the history', () => {
  test('has each request with its outcome, its details and its receipt', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const approved = await stage.ask(user, { action: 'Deploy 4.2', reason: 'Fixes the login outage' })
    await decides(phone, approved.request_id, 'Approve')
    const denied = await stage.ask(user, { action: 'Delete the backups' })
    await decides(phone, denied.request_id, 'Deny')
    await phone.page.getByRole('link', { name: 'Your decisions' }).click()
    await phone.sees('Your decisions')
    await card(phone, 'Delete the backups').getByText('Denied on').waitFor()
    await card(phone, 'Deploy 4.2').getByText('Approved on').waitFor()
    expect(await flaws(phone)).toEqual([])
    await card(phone, 'Deploy 4.2').click()
    await phone.sees('Decision')
    await phone.page.getByText('Fixes the login outage').waitFor()
    expect(await flaws(phone)).toEqual([])
    const download = phone.page.waitForEvent('download')
    await phone.tap('Download receipt')
    const file = await download
    expect(file.suggestedFilename()).toBe(`receipt-${approved.request_id}.json`)
    const { attestation } = (await stage.statusOf(approved.request_id)) as unknown as { attestation: object }
    expect(readFileSync(await file.path(), 'utf8')).toBe(`${safeJson(attestation, 2)}\n`)
    expect(phone.misdeeds).toEqual([])
  })

  test('that cannot be read is not shown as empty', async () => {
    const phone = await stage.enrolled(await stage.person())
    await phone.page.route('**/approver/decisions', (route) => route.abort())
    await goTo(phone, 'history', 'Your decisions')
    await phone.page.getByText('This can’t be read now.').waitFor()
    expect(await phone.page.getByText('You haven’t been asked').count()).toBe(0)
    await phone.page.unroute('**/approver/decisions')
    await phone.tap('Try again')
    await phone.page
      .getByText('You haven’t been asked to approve anything for this organization yet.')
      .waitFor()
    expect(phone.misdeeds).toEqual([])
  })
})

describe('an administrator', () => {
  test('sees who approved what, and the devices of a member', async () => {
    const admin = await stage.person()
    await stage.makeAdmin(admin)
    const chief = await stage.enrolled(admin)
    const user = await stage.person({ first_name: 'Katherine', last_name: 'Johnson' })
    const phone = await stage.enrolled(user)
    const { request_id } = await stage.ask(user, { action: 'Launch' })
    await decides(phone, request_id, 'Approve')
    await chief.page.getByRole('link', { name: 'Members' }).click()
    await chief.sees('Members')
    await chief.page.getByRole('link', { name: 'Decisions of all members' }).click()
    await chief.sees('Decisions of all members')
    await card(chief, 'Launch').getByText('Katherine Johnson').waitFor()
    expect(await flaws(chief)).toEqual([])
    await card(chief, 'Launch').click()
    await chief.sees('Decision')
    await chief.page.getByText('Katherine Johnson approved this.').waitFor()
    expect(await chief.page.getByText('You approved').count()).toBe(0)
    await goTo(chief, `member=${user.id}`, 'Member')
    await chief.page.getByText('Last used').waitFor()
    await card(chief, 'Launch').waitFor()
    // The name is above them all.
    expect(await card(chief, 'Launch').getByText('Katherine Johnson').count()).toBe(0)
    expect(chief.misdeeds).toEqual([])
  })

  test('sees who waits without reloading, by e-mail and time, and ends a membership only after a question', async () => {
    const admin = await stage.person()
    await stage.makeAdmin(admin)
    const chief = await stage.enrolled(admin)
    await goTo(chief, 'members', 'Members')
    await chief.page.getByText('No one is waiting.').waitFor()
    const member = await stage.person({ first_name: 'Hedy', last_name: 'Lamarr' })
    await stage.putOnHold(member)
    await chief.page.getByRole('heading', { name: 'Hedy Lamarr' }).waitFor()
    await chief.page.getByText('@acme.example').waitFor()
    await chief.page.getByText(/^On hold since /).waitFor()
    await chief.tap('End membership')
    await chief.page.getByText('End Hedy Lamarr’s membership?').waitFor()
    expect(await stage.waiting()).toEqual([member.id])
    await chief.tap('Cancel')
    await chief.tap('End membership')
    await chief.tap('End membership')
    await chief.page.getByRole('status').getByText('Hedy Lamarr isn’t a member any more.').waitFor()
    expect(await stage.waiting()).toEqual([])
    expect(chief.misdeeds).toEqual([])
  })
})

test('a member who is not an administrator reads that only administrators see the members', async () => {
  const phone = await stage.enrolled(await stage.person())
  await goTo(phone, 'members', 'Members')
  await phone.page.getByText('Only administrators can see this.').waitFor()
  expect(await phone.page.getByText('No one is waiting.').count()).toBe(0)
  await goTo(phone, 'activity', 'Decisions of all members')
  await phone.page.getByText('Only administrators can see this.').waitFor()
  expect(phone.misdeeds).toEqual([])
})

test('an administrator sees what members have muted, and lifts it with a signature', async () => {
  const admin = await stage.person()
  await stage.makeAdmin(admin)
  const chief = await stage.enrolled(admin)
  const user = await stage.person({ first_name: 'Annie', last_name: 'Easley' })
  const phone = await stage.enrolled(user)
  const { request_id } = await stage.ask(user)
  await stage.ask(user, { action: 'Restart' })
  await open(phone, request_id)
  await phone.tap('This wasn’t me')
  await phone.tap('Deny and report')
  await expect.poll(async () => (await stage.statusOf(request_id)).status).toBe('denied')
  await goTo(phone, 'history', 'Your decisions')
  await phone.page.getByRole('link').getByText('Reported', { exact: true }).waitFor()
  await card(phone, 'Restart').getByText('Ended: you reported the requester').waitFor()
  // "You" would be the administrator.
  await goTo(chief, 'activity', 'Decisions of all members')
  await card(chief, 'Restart').getByText('Ended: Annie Easley reported the requester').waitFor()
  await card(chief, 'Restart').click()
  await chief.sees('Decision')
  await chief.page.getByRole('heading', { name: 'Ended: Annie Easley reported the requester' }).waitFor()
  await goTo(chief, `member=${user.id}`, 'Member')
  await card(chief, 'Restart').getByText('Ended: Annie Easley reported the requester').waitFor()
  await goTo(chief, 'member-mutes', 'Muted requesters')
  await chief.page.getByText('Muted by Annie Easley').waitFor()
  expect(await flaws(chief)).toEqual([])
  await chief.page.getByRole('button', { name: /^Unmute/ }).click()
  await chief.page.getByRole('status').getByText('can ask again').waitFor()
  await chief.page.getByText('No member has muted a requester.').waitFor()
  await stage.ask(user)
  expect(chief.misdeeds).toEqual([])
})

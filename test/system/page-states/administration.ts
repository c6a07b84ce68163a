import { enroll } from '../../service/approver.ts'
import { createMember, createTenant, dataOf } from '../../service/fixtures.ts'
import type { Steps, Way } from './way.ts'

let tenants = 0

export const administration = (way: Way): Steps => {
  const { stage, phone, page, sees, tap, goto } = way
  let globex: { id: number }
  return {
    'inbox, administrator': async () => {
      const admin = await stage.person({ first_name: 'Katherine', last_name: 'Johnson' })
      await stage.makeAdmin(admin)
      await stage.person({ first_name: 'Dorothy', last_name: 'Vaughan' })
      await stage.putOnHold(
        await stage.person({ first_name: 'Maximiliane', last_name: 'Freiherr von Hohenlohe' }),
      )
      await stage.putOnHold(await stage.person({ first_name: 'Grace', last_name: 'Hopper' }))
      await way.openLink(admin)
      await way.register()
      await goto()
      await page.locator('a[href="#members"]').waitFor()
    },
    members: async () => {
      await way.press(page.locator('a[href="#members"]'))
      await sees('members.title')
    },
    'members, active': async () => {
      await way.press(page.locator('details summary').first())
      await page.locator('.person').first().waitFor()
    },
    'members, accepted': async () => {
      await way.press(page.locator('.member .primary').first())
      await page.locator('.outcome:not(:empty)').waitFor()
    },
    'members, rejecting': async () => {
      await way.press(page.locator('.member .danger').first())
      await page.locator('.editing').waitFor()
    },
    member: async () => {
      const user = await stage.person({ first_name: 'Mary', last_name: 'Jackson' })
      const other = await stage.enrolled(user)
      const { request_id } = await stage.ask(user)
      await other.page.locator('a.card').click()
      await other.tap('This wasn’t me')
      await other.tap('Deny and report')
      await other.sees('Denied')
      await goto(`#member=${user.id}`)
      await page.locator(`a[href="#activity=${request_id}"]`).waitFor()
    },
    'member, removing a device': async () => {
      await way.press(page.locator('.member .links .button').first())
      await page.locator('.editing').waitFor()
    },
    activity: async () => {
      await goto('#activity')
      await page.locator('a.card').first().waitFor()
    },
    'activity, decision': async () => {
      await way.press(page.locator('a.card').first())
      await page.locator('.result').waitFor()
    },
    'member mutes': async () => {
      await goto('#member-mutes')
      await page.locator('.member').waitFor()
    },
    groups: async () => {
      const members = [await stage.person({ first_name: 'Emmy' }), await stage.person()]
      for (const { id } of members) await enroll(stage.service, stage.org.id, String(id))
      const body = { name: `dba-${members[0]!.id}`, members: members.map(({ id }) => String(id)) }
      dataOf(await stage.service.call('POST', `/svc/v1/organizations/${stage.org.id}/groups`, { body }))
      await stage.revokeDevices(members[1]!)
      await goto('#groups')
      await page.locator('.member').first().waitFor()
    },
    devices: async () => {
      await goto('#devices')
      await sees('devices.title')
    },
    'devices, a member lost theirs': async () => {
      const lost = await stage.person({ first_name: 'Maryam', last_name: 'Mirzakhani' })
      await enroll(stage.service, stage.org.id, String(lost.id))
      await stage.revokeDevices(lost)
      await enroll(stage.service, stage.org.id, String(lost.id))
      await goto('#devices')
      await page.locator('.waiting .primary').waitFor()
    },
    'device, renaming': async () => {
      await tap('devices.renameName')
      await page.locator('.member input').waitFor()
    },
    'device, adding': async () => {
      await goto('#add-device')
      await sees('devices.add')
    },
    'device, link': async () => {
      await tap('devices.createLink')
      await page.locator('.link').waitFor()
    },
    'history, empty': async () => {
      await goto('#history')
      await sees('history.title')
    },
    mutes: async () => {
      await goto('#mutes')
      await page.locator('main h1').waitFor()
    },
    away: async () => {
      await goto('#away')
      await page.locator('#away-until').waitFor()
    },
    'away, set': async () => {
      await tap('away.set')
      await page.locator('button.plain').waitFor()
    },
    'away, too long': async () => {
      await page.locator('#away-until').fill('2999-01-01')
      await tap('away.set')
      await way.seesProblem()
    },
    notifications: async () => {
      await goto('#notifications')
      await sees('notifications.title')
    },
    'inbox, several organizations': async () => {
      tenants += 1
      globex = await createTenant(stage.service, `globex-international-${tenants}`)
      const other = await createMember(stage.service, globex.id, 700 + tenants)
      const path = `/svc/v1/organizations/${globex.id}/users/${other.id}/enrollments`
      const { url } = dataOf(await stage.service.call('POST', path, { body: {} }))
      await goto(new URL(url).hash)
      await page.locator('#name').waitFor()
      await way.register()
      await page.locator('#switcher').waitFor()
    },
    'inbox, signed out of one organization': async () => {
      await phone.context.clearCookies({ name: `svc-approver-${globex.id}` })
      await goto()
      await page.locator('.paper[role=group]').waitFor()
    },
  }
}

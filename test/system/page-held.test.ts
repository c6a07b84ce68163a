import { afterEach, describe, expect, test } from 'vitest'
import { dataOf } from '../service/fixtures.ts'
import { installHooks, open, stage } from './open-stage.ts'
import { flaws } from './page-flaws.ts'
import type { Phone } from './page-phone.ts'

// A rule of the organization holds what an administrator does on the page.

installHooks()

type User = { id: number }
const call = async (method: string, path: string, body?: object): Promise<void> =>
  void dataOf(
    await stage.service.call(method, `/svc/v1/organizations/${stage.org.id}/${path}`, body && { body }),
  )
let people = 0
const group = (): string => `g${people}`
/** Only these people must approve. A rule needs somebody else while it is made: the administrator who will ask. */
const hold = async (approvers: User[], admin: User, reason?: object): Promise<void> => {
  const members = [...approvers, admin].map(({ id }) => String(id))
  await call('POST', 'groups', { name: group(), members })
  await call('POST', 'rules', {
    name: 'users',
    match: { type: 'request', operation: ['user'] },
    who: [`@${group()}`],
    ...(reason && { reason }),
  })
  await call('DELETE', `groups/${group()}/members/${admin.id}`)
}
afterEach(() => call('DELETE', 'rules/users'))

/** An administrator's phone, one for each of the people who must approve, and a member. */
const persons = async (names: string[], reason?: object) => {
  const admin = await stage.person({ first_name: 'Bob', last_name: 'Boole' })
  await stage.makeAdmin(admin)
  const phone = await stage.enrolled(admin)
  const approvers = await Promise.all(names.map((first_name) => stage.person({ first_name })))
  const phones: Phone[] = []
  for (const one of approvers) phones.push(await stage.enrolled(one))
  const name = `Mal ${(people += 1)}`
  await stage.person({ first_name: name, last_name: 'Roe' })
  await hold(approvers, admin, reason)
  return { phone, phones, name }
}
const promote = async ({ page }: Phone, name: string): Promise<void> => {
  await page.getByRole('link', { name: 'Members' }).click()
  await page.getByText('Active members').click()
  const row = page
    .getByRole('listitem')
    .filter({ hasText: `${name} Roe` })
    .first()
  await row.getByRole('button', { name: /^Make admin/ }).click()
  await row.getByRole('button', { name: 'Make admin', exact: true }).click()
}
const administrators = async (): Promise<string[]> =>
  dataOf(await stage.service.call('GET', `/organization/${stage.org.id}/users`)).flatMap(
    ({ first_name, role }: { first_name: string; role: string }) => (role === 'admin' ? first_name : []),
  )
const requestOf = async (phone: Phone): Promise<string> => {
  const link = phone.page.locator('a[href^="#request="]').first()
  await link.waitFor()
  return (await link.getAttribute('href'))!.slice('#request='.length)
}

describe('a member whom an administrator promotes', () => {
  test('becomes one only after the person of the rule has approved', async () => {
    const { phone, phones, name } = await persons(['Grace'])
    await promote(phone, name)
    await phone.page.getByText(/First, this needs the approval of Grace .*\. Keep this page open\./).waitFor()
    const isKept = () =>
      phone.page.evaluate("!dispatchEvent(new Event('beforeunload', { cancelable: true }))")
    expect(await isKept()).toBe(true)
    expect(await administrators()).not.toContain(name)
    const [grace] = phones as [Phone]
    await open(grace, await requestOf(grace))
    await grace.tap('Approve')
    await grace.sees('Approved')
    await phone.page.getByRole('status').getByText(`${name} Roe is an administrator.`).waitFor()
    expect(await isKept()).toBe(false)
    expect(await administrators()).toContain(name)
  })

  test('becomes one for a reason, if the rule demands one, that the approver reads', async () => {
    const reason = { prompt: 'Ticket', pattern: 'OPS-*', example: 'OPS-12' }
    const { phone, phones, name } = await persons(['Mary'], reason)
    const dialog = phone.page.getByRole('dialog', { name: 'A rule requires a reason' })
    const answer = async (text: string): Promise<void> => {
      await dialog.getByLabel('Ticket').fill(text)
      expect(await flaws(phone)).toEqual([])
      await dialog.getByRole('button', { name: 'Continue' }).click()
    }
    await promote(phone, name)
    await answer('because')
    await dialog.locator('.warning').getByText('It must look like OPS-*, for example OPS-12.').waitFor()
    await answer('OPS-77')
    const [mary] = phones as [Phone]
    await open(mary, await requestOf(mary))
    await mary.page.getByText('OPS-77').first().waitFor()
    await mary.tap('Approve')
    await phone.page.getByRole('status').getByText(`${name} Roe is an administrator.`).waitFor()
  })

  test('does not if one of two people denies it, and the other reads that', async () => {
    const { phone, phones, name } = await persons(['Ida', 'Joan'])
    await promote(phone, name)
    await phone.page.getByText('Keep this page open.').waitFor()
    await phone.page.getByRole('link', { name: 'All requests' }).click()
    const [ida, joan] = phones as [Phone, Phone]
    await open(joan, await requestOf(joan))
    await open(ida, await requestOf(ida))
    await ida.tap('Deny')
    await ida.sees('Denied')
    await joan.page.getByText(/Ida .* denied this/).waitFor()
    await phone.page.getByText(/Ida .* denied this/).waitFor()
    expect(await administrators()).not.toContain(name)
  })
})

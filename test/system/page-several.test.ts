import { describe, expect, test } from 'vitest'
import { createMember, dataOf } from '../service/fixtures.ts'
import type { Phone } from './page-phone.ts'
import { installHooks, stage } from './open-stage.ts'

// A request of several people, on the phones of each of them.

installHooks()

let numbers = 0
type Person = { id: string; mobile: string; phone: Phone }

const enrolled = async (first_name: string): Promise<Person> => {
  const person = await createMember(stage.service, stage.org.id, (numbers += 1), {
    first_name,
    last_name: 'Jones',
  })
  return { id: person.id, mobile: person.mobile_e164, phone: await stage.enrolled(person) }
}
const three = async (): Promise<[Person, Person, Person]> => [
  await enrolled('Ada'),
  await enrolled('Bob'),
  await enrolled('Eve'),
]
const request = async (approvers: string[], action = 'Drop the table'): Promise<string> => {
  const body = { action, approvers, org_id: stage.org.id }
  return dataOf(await stage.service.call('POST', '/svc/v1/approvals', { body })).request_id
}
const card = ({ phone }: Person, id: string) => phone.page.locator(`a[href="#request=${id}"]`)
const facts = ({ phone }: Person) => phone.page.locator('.facts')
const approve = async (person: Person, id: string): Promise<void> => {
  await card(person, id).click()
  await person.phone.tap('Approve')
}

/** Another phone of theirs, which the first one approves. */
const secondPhone = async ({ id, phone }: Person): Promise<Phone> => {
  const second = await stage.registered({ id: Number(id) })
  await phone.page.goto(`${stage.origin}/approver#devices`)
  await phone.tap('Approve')
  await phone.page.getByRole('status').getByText('Approved.').waitFor()
  await phone.page.getByRole('link', { name: 'All requests' }).click()
  await stage.reachesInbox(second)
  return second
}

describe('a request of two lines', () => {
  test('tells each person who else is asked, what was said, and how it ended', async () => {
    const [ada, bob, eve] = await three()
    const id = await request([ada.mobile, `${bob.mobile},${eve.mobile}`])
    await card(bob, id)
      .getByText('Asked by name: 0 of 2 approved. Also waiting for Ada Jones, Eve Jones.')
      .waitFor()
    await approve(ada, id)
    await ada.phone.sees('You approved. At least one more approval is needed.')
    await ada.phone.page.getByText('Waiting for Bob Jones, Eve Jones.').waitFor()
    await card(bob, id).getByText('Asked by name: 1 of 2 approved. Also asked: Eve Jones.').waitFor()
    await card(bob, id).click()
    await facts(bob)
      .getByText(/^Ada Jones \(Approved\)$/)
      .first()
      .waitFor()
    await facts(bob).getByText('1 of Bob Jones, Eve Jones').waitFor()
    await bob.phone.tap('Approve')
    await bob.phone.sees('Approved')
    // Her screen follows.
    await ada.phone.sees('Approved')
    await ada.phone.page.getByText('Bob Jones approved this.').waitFor()
    await expect.poll(async () => (await stage.statusOf(id)).status).toBe('approved')
    await card(eve, id).waitFor({ state: 'detached' })
    await eve.phone.page.goto(`${stage.origin}/approver#history`)
    await eve.phone.page.getByText('Bob Jones approved this.').click()
    await eve.phone.page.getByRole('heading', { name: 'Approved' }).waitFor()
    await eve.phone.page.getByText('Bob Jones approved this.').waitFor()
  })

  test('ends with the first denial, which the others read, and whoever is asked again', async () => {
    const [ada, bob, eve] = await three()
    const id = await request([ada.mobile, bob.mobile], 'Drop the index')
    await card(ada, id).click()
    await ada.phone.page.getByRole('button', { name: 'Approve', exact: true }).waitFor()
    await card(bob, id).click()
    await bob.phone.tap('Deny')
    await bob.phone.sees('Denied')
    await ada.phone.sees('Denied')
    await ada.phone.page.getByText('Bob Jones denied this.').waitFor()
    // Asked again, of two people, one of whom has a second phone.
    const second = { ...eve, phone: await secondPhone(eve) }
    const again = await request([eve.mobile, bob.mobile], 'Drop the index')
    await bob.phone.tap('Next request')
    for (const one of [eve, second]) await card(one, again).click()
    for (const one of [eve, second, bob])
      await one.phone.page
        .locator('.signed')
        .getByText(
          one === bob
            ? /^You denied an earlier request for the same action at \d/
            : /^Bob Jones denied an earlier request for the same action at \d/,
        )
        .waitFor()
    await second.phone.tap('Deny')
    await second.phone.sees('Denied')
    await eve.phone.sees('Denied on another device')
    await bob.phone.page.getByText('Eve Jones denied this.').waitFor()
    await expect.poll(async () => (await stage.statusOf(again)).status).toBe('denied')
  })
})

test('a group is asked under its name', async () => {
  const [ada, bob] = await three()
  const path = `/svc/v1/organizations/${stage.org.id}/groups`
  dataOf(
    await stage.service.call('POST', path, {
      body: { name: 'dba', members: [ada.id, bob.id] },
    }),
  )
  const id = await request(['@dba:2'])
  await card(ada, id).getByText('Asked for @dba: 0 of 2 approved. Also waiting for Bob Jones.').waitFor()
  await approve(ada, id)
  await ada.phone.sees('You approved. At least one more approval is needed.')
  await card(bob, id).getByText('Asked for @dba: 1 of 2 approved.').waitFor()
  await card(bob, id).click()
  await facts(bob).waitFor()
  expect(await facts(bob).innerText()).toMatch(/@dba: 2 of Ada Jones \(approved\), Bob Jones/i)
})

test('a member reads the groups that they are in, and who of them cannot be asked', async () => {
  const [ada, bob] = await three()
  const path = `/svc/v1/organizations/${stage.org.id}/groups`
  dataOf(await stage.service.call('POST', path, { body: { name: 'web', members: [ada.id, bob.id] } }))
  await stage.revokeDevices({ id: Number(bob.id) })
  await ada.phone.page.getByRole('link', { name: 'Groups of approvers' }).click()
  await ada.phone.sees('Groups of approvers')
  const group = ada.phone.page.getByRole('listitem').filter({ hasText: '@web' })
  const [own, other] = [group.getByText('Ada Jones'), group.getByRole('listitem').filter({ hasText: 'Bob' })]
  await own.waitFor()
  expect(await other.innerText()).toMatch(/Bob Jones\s+•+\d{4}\s+Can’t be asked now/)
  await bob.phone.sees('This device was removed')
})

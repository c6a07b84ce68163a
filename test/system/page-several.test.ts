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

describe('a request of two lines', () => {
  test('tells each person who else is asked, what was said, and how it ended', async () => {
    const [ada, bob, eve] = await three()
    const id = await request([ada.mobile, `${bob.mobile},${eve.mobile}`])
    await approve(ada, id)
    await ada.phone.sees('You approved. Others still have to.')
    await ada.phone.page.getByText('Waiting for Bob Jones, Eve Jones.').waitFor()
    await card(bob, id).click()
    await facts(bob).getByText('1 of Ada Jones (approved)').waitFor()
    await facts(bob).getByText('1 of Bob Jones, Eve Jones').waitFor()
    await bob.phone.tap('Approve')
    await bob.phone.sees('Approved')
    await expect.poll(async () => (await stage.statusOf(id)).status).toBe('approved')
    await card(eve, id).waitFor({ state: 'detached' })
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
    const again = await request([eve.mobile], 'Drop the index')
    await card(eve, again).click()
    await card(eve, again).waitFor({ state: 'detached' })
    expect(await facts(eve).innerText()).toMatch(/Bob Jones denied this at \d/)
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
  await approve(ada, id)
  await ada.phone.sees('You approved. Others still have to.')
  await card(bob, id).click()
  await facts(bob).waitFor()
  expect(await facts(bob).innerText()).toMatch(/@dba: 2 of Ada Jones \(approved\), Bob Jones/i)
})

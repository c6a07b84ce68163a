import { expect, test } from 'vitest'
import { dataOf } from '../service/fixtures.ts'
import { installHooks, stage } from './open-stage.ts'
import { flaws } from './page-flaws.ts'
import type { Phone } from './page-phone.ts'

installHooks()

const goTo = async (phone: Phone, place: string, heading: string): Promise<void> => {
  await phone.page.evaluate(`location.hash = '${place}'`)
  await phone.sees(heading)
}
const tells = ({ page }: Phone, text: string) => page.getByRole('status').getByText(text).waitFor()
const daysFrom = (days: number): string => {
  const at = new Date(Date.now() + days * 86_400_000)
  return new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short' }).format(at)
}
const longDay = (days: number): string =>
  new Date(Date.now() + days * 86_400_000).toLocaleDateString('en-US', { dateStyle: 'medium' })
const refuses = ({ page }: Phone, text: string) => page.getByRole('alert').getByText(text).waitFor()
const awayOf = async (user: { id: number | string }) =>
  dataOf(await stage.service.call('GET', `/organization/${stage.org.id}/user/${user.id}`)).away

test('a person sets when they are away and ends it, with the keyboard alone', async () => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  await phone.page.getByRole('link', { name: 'Away', exact: true }).press('Enter')
  await phone.sees('Away')
  await phone.page.getByText('No absence is set.').waitFor()
  await phone.page.getByLabel('Back on').fill(daysFrom(0))
  await phone.page.getByRole('button', { name: 'Set absence' }).press('Enter')
  await phone.page.getByText('Not saved: choose a day of return').waitFor()
  expect(await awayOf(user)).toBeUndefined()
  await phone.page.getByLabel('First day away').fill(daysFrom(2))
  await phone.page.getByLabel('Back on').fill(daysFrom(9))
  await phone.page.getByRole('button', { name: 'Set absence' }).press('Enter')
  await tells(phone, 'The absence is set.')
  const { from, until } = await awayOf(user)
  expect([from, until].map((at) => new Intl.DateTimeFormat('sv-SE').format(new Date(at)))).toEqual([
    daysFrom(2),
    daysFrom(9),
  ])
  expect(await flaws(phone)).toEqual([])
  await phone.page.getByRole('button', { name: 'End absence' }).press('Enter')
  await tells(phone, 'The absence has ended.')
  expect(await awayOf(user)).toBeUndefined()
})

test('an absence that is too long is refused with the limit and the last day, and that day is accepted', async () => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  await goTo(phone, 'away', 'Away')
  await phone.page.getByLabel('Back on').fill(daysFrom(31))
  await phone.tap('Set absence')
  await refuses(phone, `an absence can last 30 days at most. Choose ${longDay(30)} or an earlier day`)
  expect(await awayOf(user)).toBeUndefined()
  await phone.page.getByLabel('Back on').fill(daysFrom(30))
  await phone.tap('Set absence')
  await tells(phone, 'The absence is set.')
})

test('an administrator sets it for a member, for three days and no longer', async () => {
  const member = await stage.person({ first_name: 'Grace', last_name: 'Hopper' })
  await stage.enrolled(member)
  const chief = await stage.enrolled(await stage.person({ role: 'admin' }))
  await goTo(chief, `member=${member.id}`, 'Member')
  await chief.page.getByLabel('Back on').fill(daysFrom(8))
  await chief.tap('Set absence')
  await refuses(chief, `an absence can last 3 days at most. Choose ${longDay(3)} or an earlier day`)
  expect(await awayOf(member)).toBeUndefined()
  await chief.page.getByLabel('Back on').fill(daysFrom(2))
  await chief.tap('Set absence')
  await tells(chief, 'The absence is set.')
  expect((await awayOf(member)).until > new Date().toISOString()).toBe(true)
})

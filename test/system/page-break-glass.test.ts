import { expect, test } from 'vitest'
import { requestLine } from '../e2e/approvals.ts'
import { outcome, startSvc } from '../e2e/processes.ts'
import { watch } from '../e2e/terminal.ts'
import { dataOf } from '../service/fixtures.ts'
import { installHooks, open, stage } from './open-stage.ts'
import { flaws } from './page-flaws.ts'
import { startLogin } from './page-login.ts'
import type { Phone } from './page-phone.ts'

// A person on call reads, in red, whom nobody asks and who was told, before they sign instead of them.

installHooks()

const add = async (path: string, body: object): Promise<void> =>
  void dataOf(await stage.service.call('POST', `/svc/v1/organizations/${stage.org.id}/${path}`, { body }))

const member = async (first_name: string, more: object = {}) => {
  const user = await stage.person({ first_name, last_name: 'Roe', ...more })
  return { user, name: `${first_name} Roe (user ${user.id})`, phone: await stage.enrolled(user) }
}

const warning = ({ page }: Phone) => page.locator('.emergency')

const question = ({ page }: Phone) => page.getByRole('heading', { name: 'Was this an emergency?' })

/** The red, green and blue of its text. */
const colourOf = async ({ page }: Phone): Promise<number[]> => {
  const colour: string = await page.evaluate(`getComputedStyle(
    [...document.querySelectorAll('p')].find((one) => one.textContent.startsWith('Break-glass')),
  ).color`)
  return colour.match(/\d+/g)!.map(Number)
}

test('a request that breaks the glass says so in red, and an ordinary one does not', async () => {
  const { user: ada, name: requester, phone } = await member('Ada')
  const [bob, carol] = [await member('Bob'), await member('Carol')]
  const { name: admin } = await member('Grace', { role: 'admin' })
  await add('groups', { name: 'dba', members: [bob, carol].map(({ user }) => String(user.id)) })
  await add('groups', { name: 'oncall', members: [String(ada.id)] })
  const match = { type: 'command', argv: ['true'], shells: 'ignore' }
  await add('rules', { name: 'restore', match, who: ['@dba'], break_glass: '@oncall' })
  const { env, ended, address } = await startLogin()
  await phone.page.goto(address)
  await phone.tap('Allow')
  expect((await ended).exit).toBe(0)
  await phone.page.goto(`${stage.origin}/approver`)

  const running = startSvc(
    ['approve', 'run', '--profile', 'mine', '--break-glass', 'prod down, INC-77', '--', '/bin/true'],
    env,
  )
  const [output, run] = [watch(running), outcome(running)]
  await output.until(() => requestLine.test(output.written()))
  await open(phone, requestLine.exec(output.written())![1]!)
  expect(await warning(phone).locator('p').allInnerTexts()).toEqual([
    'Break-glass, because of “prod down, INC-77”',
    `Not asked, although the rules name them: ${bob.name}, ${carol.name}`,
    `Told about this: ${requester}, ${bob.name}, ${carol.name}, ${admin}`,
  ])
  for (const colorScheme of ['light', 'dark'] as const) {
    await phone.page.emulateMedia({ colorScheme })
    const [red, green, blue] = (await colourOf(phone)) as [number, number, number]
    expect(red).toBeGreaterThan(1.3 * Math.max(green, blue))
    expect(await flaws(phone)).toEqual([])
  }
  const id = new URL(phone.page.url()).hash.slice('#request='.length)
  // Who was told and not asked follows it.
  const { page } = bob.phone
  await page.evaluate(`location.hash = 'decision=${id}'`)
  await page.getByText('Still pending').waitFor()
  await phone.tap('Approve')
  await phone.sees('Approved')
  expect((await run).exit).toBe(0)
  await question(bob.phone).waitFor()
  // What whoever reviews it weighs.
  for (const says of [
    'Ada Roe approved this.',
    'Ada Roe had also asked for it.',
    'Ada Roe (approved) (because of rule restore)',
    'The approval was used',
  ])
    await page.getByText(says).waitFor()
  expect(await flaws(bob.phone)).toEqual([])
  await bob.phone.tap('No, dispute it')
  await bob.phone.tap('Dispute')
  await page.getByRole('alert').getByText('Enter a reason.').waitFor()
  expect(await flaws(bob.phone)).toEqual([])
  await page.getByLabel('Why it was no emergency').fill('It could have waited')
  // Another of them sees the question, and then the answer.
  await carol.phone.page.getByRole('link', { name: '1 break-glass to review' }).click()
  await question(carol.phone).waitFor()
  await bob.phone.tap('Dispute')
  await page.getByRole('status').getByText('Your answer is recorded.').waitFor()
  const said = carol.phone.page.getByText(`${bob.name} disputed this break-glass`)
  await said.waitFor()
  expect(await said.textContent()).toContain('Note: It could have waited')
  expect(await carol.phone.page.getByRole('button', { name: 'Yes, that was right' }).count()).toBe(0)
  expect(await flaws(carol.phone)).toEqual([])

  const { request_id } = await stage.ask({ mobile: ada.mobile_e164 })
  await phone.page.goto(`${stage.origin}/approver`)
  await open(phone, request_id)
  expect(await phone.page.getByText('Break-glass').count()).toBe(0)
})

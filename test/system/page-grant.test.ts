import { expect, test } from 'vitest'
import { dataOf } from '../service/fixtures.ts'
import { command } from '../service/approvals/command-subject.ts'
import { installHooks, open, stage } from './open-stage.ts'
import { flaws } from './page-flaws.ts'

// An approver allows the same again for a while, and reads later that nobody was asked.

installHooks()

const call = async (method: string, path: string, body: object, key?: string) =>
  dataOf(await stage.service.call(method, path, { body, key }))

test('the approver reads what may differ before allowing it, later finds what was not asked, and ends it', async () => {
  const org = stage.org.id
  const [ada, bob] = [await stage.person({ first_name: 'Ada' }), await stage.person({ first_name: 'Bob' })]
  const phone = await stage.enrolled(ada)
  await stage.enrolled(bob)
  const reads = (text: string) => phone.page.getByText(text).first().waitFor()
  const path = `/svc/v1/organizations/${org}`
  await call('POST', `${path}/groups`, { name: 'sre', members: [ada, bob].map(({ id }) => String(id)) })
  const match = { type: 'command', argv: ['systemctl', 'restart', '*'] }
  await call('POST', `${path}/rules`, { name: 'restarts', match, who: ['@sre'], grant: {} })
  const { key } = await call('POST', '/svc/v1/keys', { name: 'agent', org_id: org, scopes: ['ask'] })
  const ask = (unit: string) =>
    call('POST', '/svc/v1/approvals', { subject: command('systemctl', 'restart', unit) }, key)

  const { request_id } = await ask('web-1')
  await phone.page.goto(`${stage.origin}/approver`)
  await open(phone, request_id)
  await phone.tap('Approve, and allow this again')
  await reads('For 1 hour, up to 20 times, without asking you.')
  await reads('Each time, any other single word can stand for web-1.')
  expect(await flaws(phone)).toEqual([])
  await phone.tap('Approve, and allow this again')
  await phone.sees('Approved')
  await reads('You also allowed this again for 1 hour, up to 20 times. To end that, open Your decisions.')

  const again = await ask('web-2')
  expect(again).toMatchObject({ status: 'approved', granted_by: request_id, grant_use: 1 })
  expect((await ask('--all')).status).toBe('pending')
  await phone.page.goto(`${stage.origin}/approver#history`)
  await reads('Allowed earlier; nobody was asked')
  await reads('Run systemctl restart web-1')
  await reads('Each time, any other single word can stand for web-1.')
  await reads('Used 1 of 20, until ')
  expect(await flaws(phone)).toEqual([])

  await phone.page.getByRole('link', { name: 'Run systemctl restart web-2' }).click()
  await phone.page.getByRole('heading', { name: 'Allowed earlier; nobody was asked' }).waitFor()
  await reads('An earlier grant allowed it. This was use 1 of 20.')
  expect(await flaws(phone)).toEqual([])
  await phone.page.getByRole('link', { name: 'Show the request that allowed it' }).click()
  await reads('You approved this ')
  await phone.page.getByRole('link', { name: 'Your decisions' }).click()

  await phone.page.getByRole('button', { name: 'End: Run systemctl restart web-1' }).click()
  await phone.page.getByRole('status').getByText('Ended. You’ll be asked again.').waitFor()
  await phone.page.getByText('Allowed without asking you').waitFor({ state: 'detached' })
  expect((await ask('web-3')).status).toBe('pending')
})

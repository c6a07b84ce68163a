import { command } from '../../service/approvals/command-subject.ts'
import { dataOf } from '../../service/fixtures.ts'
import { at } from '../../service/rule-fixture.ts'
import { type Scenario, type Scene, status, unreachable, visible } from './scene.ts'

/** A phone whose owner has allowed a command again. */
const granted = async ({ stage, admin, enrolled, statusOf }: Scene) => {
  const { phone, user } = await admin()
  const other = await stage.person()
  await enrolled(other)
  const post = async (path: string, body: object, key?: string) =>
    dataOf(await stage.service.call('POST', path, { body, key }))
  const org = stage.org.id
  const name = `restarters-${other.id}`
  await post(at(org, 'groups'), { name, members: [String(user.id), String(other.id)] })
  const match = { type: 'command', argv: ['restart', name, '*'] }
  await post(at(org, 'rules'), { name, match, who: [`@${name}`], grant: {} })
  const { key } = await post('/svc/v1/keys', { name, org_id: org, scopes: ['ask'] })
  const subject = command('restart', name, 'web-1')
  const { request_id } = await post('/svc/v1/approvals', { subject }, key)
  await phone.page.locator(`a[href="#request=${request_id}"]`).click()
  const allow = 'Approve, and allow this again'
  const step = phone.page.getByRole('heading', { level: 2, name: allow })
  await phone.tap(allow)
  // While a part of the text is below the bar, the tap shows it.
  if (!(await step.isVisible())) await phone.tap(allow)
  await visible(step)
  await phone.page.locator('.step').getByRole('button', { name: allow }).click()
  await phone.sees('Approved')
  if ((await statusOf(request_id)) !== 'approved') throw new Error('not granted')
  return phone
}

export const grants: Record<string, Scenario> = {
  endOwnGrant: async (scene) => {
    const phone = await granted(scene)
    await scene.show(phone, 'history')
    const end = phone.page.getByRole('button', { name: /^End: / }).last()
    await visible(end)
    return {
      phone,
      tap: () => end.click(),
      says: () => unreachable(phone),
      done: () => status(phone, /Ended\.|The answer was lost/),
      knows: true,
      happened: await scene.audited('endOwnGrant', 'granted_until'),
    }
  },
}

import { createMember, createTenant, dataOf } from '../service/fixtures.ts'
import type { Phone } from './page-phone.ts'
import { stage } from './open-stage.ts'

// One phone of a person who approves in two organizations.

let tenants = 0

/** A phone that is registered in acme and then in another organization, at its inbox. */
export const inTwo = async () => {
  const ada = await stage.person()
  const phone = await stage.enrolled(ada)
  tenants += 1
  const globex = await createTenant(stage.service, `globex${tenants}`)
  const other = await createMember(stage.service, globex.id, 90 + tenants)
  const path = `/svc/v1/organizations/${globex.id}/users/${other.id}/enrollments`
  const { url } = dataOf(await stage.service.call('POST', path, { body: {} }))
  await phone.page.goto(url)
  await phone.tap('Register this device')
  await stage.reachesInbox(phone)
  return { ada, phone, other, name: `globex${tenants}`, org: globex.id }
}

/** What the browser keeps for the page, as one text. */
export const keptBy = ({ page }: Phone): Promise<string> =>
  page.evaluate('JSON.stringify({ ...localStorage })')

export const header = ({ page }: Phone, name: string) =>
  page.locator('#organization').getByText(name, { exact: true }).waitFor()

/** Lets the person pick the passkey of one organization, among all that the phone offers. */
export const createPicker = async ({ page, devtools, authenticatorId }: Phone) => {
  const held = async () => (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials
  const known = JSON.parse(await page.evaluate(`localStorage.getItem('svc-organizations')`)) as {
    organization: string
    credential_id: string
  }[]
  let keys = await held()
  return async (picked: string): Promise<void> => {
    const now = await held()
    // Their counters go on.
    keys = keys.map((key) => now.find(({ credentialId }) => credentialId === key.credentialId) ?? key)
    const wanted = known.find(({ organization }) => organization === picked)!.credential_id
    const credential = keys.find(
      ({ credentialId }) => Buffer.from(credentialId, 'base64').toString('base64url') === wanted,
    )!
    await devtools.send('WebAuthn.clearCredentials', { authenticatorId })
    await devtools.send('WebAuthn.addCredential', { authenticatorId, credential })
  }
}

export const card = (phone: Phone, id: string) => phone.page.locator(`a[href="#request=${id}"]`)

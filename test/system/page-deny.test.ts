import { describe, expect, test } from 'vitest'
import { dataOf } from '../service/fixtures.ts'
import { flaws } from './page-flaws.ts'
import { installHooks, open, stage } from './open-stage.ts'

// Denials: "this wasn't me", all of one requester, and with a touch alone.

installHooks()

const asked = async (count: number) => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  const ids: string[] = []
  for (let n = 1; n <= count; n++) ids.push((await stage.ask(user, { action: `Deploy ${n}` })).request_id)
  await open(phone, ids[0]!)
  return { user, phone, ids: ids as [string, ...string[]] }
}

describe('"this wasn’t me"', () => {
  test('ends the other requests of the requester, and can be undone', async () => {
    const { user, phone, ids } = await asked(2)
    await phone.tap('This wasn’t me')
    await phone.tap('Deny and report')
    await phone.sees('Denied')
    await phone.page.getByText('its other requests to you have ended').waitFor()
    expect(await stage.statusOf(ids[1]!)).toMatchObject({ status: 'expired' })
    expect(await phone.page.getByRole('button', { name: /Next request/ }).count()).toBe(0)
    await expect(stage.ask(user)).rejects.toThrow('muted')
    await phone.tap('Unmute the requester')
    await phone.page.getByRole('status').getByText('The requester can ask you again').waitFor()
    expect(await phone.page.getByRole('button', { name: 'Unmute the requester' }).count()).toBe(0)
    await stage.ask(user, { action: 'Deploy 3' })
    await phone.tap('Next request')
    await phone.sees('Deploy 3')
    await phone.page.goto(`${stage.origin}/approver#request=${ids[1]}`)
    await phone.sees('This request has ended')
    await phone.page.getByText('You reported another request of this requester').waitFor()
  })

  test('is undone later in the list of muted requesters, after the check of the owner', async () => {
    const { user, phone } = await asked(1)
    await phone.tap('This wasn’t me')
    await phone.tap('Deny and report')
    await phone.sees('Denied')
    await phone.tap('Done')
    await phone.page.getByRole('link', { name: 'Muted requesters' }).click()
    await phone.sees('Muted requesters')
    await phone.setOwner(false)
    await phone.page.getByRole('button', { name: /^Unmute / }).click()
    await phone.page.getByRole('alert').getByText('was cancelled or timed out').waitFor()
    await expect(stage.ask(user)).rejects.toThrow('muted')
    await phone.setOwner(true)
    await phone.page.getByRole('button', { name: /^Unmute / }).click()
    await phone.page.getByRole('status').getByText('can ask again. Requests that ended').waitFor()
    await phone.page.getByText('You haven’t muted any requester of this organization.').waitFor()
    await stage.ask(user)
    await phone.page.getByRole('link', { name: 'A new request arrived' }).waitFor()
    expect(phone.misdeeds).toEqual([])
  })
})

describe('all requests of one requester', () => {
  test('are denied with one check', async () => {
    const { phone, ids } = await asked(3)
    await phone.tap('Deny all 3 from this requester')
    await phone.page.getByRole('heading', { name: 'Deny these 3 requests?' }).waitFor()
    await phone.tap('Deny all 3 requests')
    await phone.sees('3 requests denied')
    for (const id of ids) expect(await stage.statusOf(id)).toMatchObject({ status: 'denied' })
    await phone.tap('Done')
    await phone.sees('No open requests')
  })

  test('are those that the person saw when one of them ends meanwhile', async () => {
    const { phone, ids } = await asked(3)
    await phone.tap('Deny all 3 from this requester')
    await stage.service.call('POST', `/svc/v1/approvals/${ids[2]}/withdraw`, { body: {} })
    await phone.tap('Deny all 3 requests')
    await phone.sees('2 requests denied')
    await phone.page.getByText('1 other request had ended before').waitFor()
    expect(await stage.statusOf(ids[2]!)).toMatchObject({ status: 'expired' })
  })
})

test('a touch is enough for a denial where the policy allows it, and for nothing else', async () => {
  await stage.setPolicy({ deny_check: 'presence' })
  const { phone, ids } = await asked(1)
  await phone.setOwner(false)
  await phone.tap('Approve')
  await phone.page.getByRole('alert').getByText('was cancelled or timed out').waitFor()
  await phone.tap('Deny')
  await phone.sees('Denied')
  const path = `/svc/v1/approvals/${ids[0]}`
  const { attestation } = dataOf(await stage.service.call('GET', path))
  expect(attestation.claims.amr).not.toContain('mfa')
  await stage.setPolicy({ deny_check: 'verification' })
})

describe('after an ordinary denial', () => {
  test('the page offers to report the request, and to undo that', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id } = await stage.ask(user)
    const other = await stage.ask(user, { action: 'Deploy 4.3' })
    await open(phone, request_id)
    await phone.tap('Deny')
    await phone.sees('Denied')
    await phone.tap('This wasn’t me')
    await phone.page.getByRole('heading', { name: 'Report this request?' }).waitFor()
    expect(await flaws(phone)).toEqual([])
    await phone.tap('Report')
    await phone.page.getByText('The requester can’t notify you for 20 minutes, and').waitFor()
    expect(await stage.statusOf(other.request_id)).toMatchObject({ status: 'expired' })
    expect(await flaws(phone)).toEqual([])
    await phone.tap('Unmute the requester')
    await expect(phone.page.getByText('can ask you again').waitFor()).resolves.toBeUndefined()
    // What was reported is not offered once more.
    await phone.page.goto(`${stage.origin}/approver#request=${request_id}`)
    await phone.page.reload()
    await phone.sees('Denied')
    expect(await phone.page.getByRole('button', { name: 'This wasn’t me' }).count()).toBe(0)
    expect(phone.misdeeds).toEqual([])
  })
})

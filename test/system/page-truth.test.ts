import { describe, expect, test } from 'vitest'
import { dataOf } from '../service/fixtures.ts'
import type { Phone } from './page-phone.ts'
import { installHooks, open, stage } from './open-stage.ts'

// What the page says must be what happened, also when answers are lost.

installHooks()

const decideCall = '**/svc/v1/approvals/*/decide'

/** Loses the next answer to a decision, after or before the service got it. */
const loseAnswer = async (phone: Phone, how: 'arrives, 504' | 'arrives, cut' | 'cut'): Promise<void> => {
  await phone.page.route(
    decideCall,
    async (route) => {
      if (how !== 'cut') await route.fetch()
      if (how === 'arrives, 504')
        await route.fulfill({ status: 504, contentType: 'text/html', body: '<h1>Gateway Timeout</h1>' })
      else await route.abort('connectionreset')
    },
    { times: 1 },
  )
}

const opened = async (more: object = {}) => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  const { request_id, number } = await stage.ask(user, more)
  await open(phone, request_id)
  return { user, phone, request_id, number }
}

describe('the result of a decision whose answer was lost', () => {
  test.each(['arrives, 504', 'arrives, cut'] as const)('is read from the service: %s', async (how) => {
    const { phone, request_id } = await opened()
    await loseAnswer(phone, how)
    await phone.tap('Approve')
    await phone.sees('Approved')
    await phone.page.getByText(/^You approved this (?:at|on) .*\d/).waitFor()
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'approved' })
  })

  test('is a denial, if that is what was sent', async () => {
    const { phone } = await opened()
    await loseAnswer(phone, 'arrives, cut')
    await phone.tap('Deny')
    await phone.sees('Denied')
    await expect(phone.page.getByText(/^You denied this (?:at|on) .*\d/).waitFor()).resolves.toBeUndefined()
  })

  test('is nothing if the decision never arrived, and it can be repeated', async () => {
    const { phone, request_id } = await opened()
    await loseAnswer(phone, 'cut')
    await phone.tap('Approve')
    await phone.page.getByRole('alert').getByText('Your decision hasn’t arrived. Tap again.').waitFor()
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'pending' })
    await phone.tap('Approve')
    await phone.sees('Approved')
  })

  test('is still shown after a reload', async () => {
    const { phone, request_id } = await opened()
    await loseAnswer(phone, 'arrives, cut')
    await phone.tap('Approve')
    await phone.sees('Approved')
    await phone.page.goto(`${stage.origin}/approver#request=${request_id}`)
    await phone.page.reload()
    await phone.sees('Approved')
    await expect(phone.page.getByText(/^You approved this (?:at|on) .*\d/).waitFor()).resolves.toBeUndefined()
  })
})

/** A slot that is not open on any day of this week: it opens for a minute on the day after tomorrow. */
const closed = () => {
  const day = new Date(Date.now() + 2 * 24 * 60 * 60_000).toLocaleDateString('en', {
    weekday: 'short',
    timeZone: 'UTC',
  })
  return { name: 'Night shift', days: [day.toLowerCase()], start: '03:00', end: '03:01', timezone: 'UTC' }
}

describe('what an approval is checked against', () => {
  test('is named before the device check, with a warning where the answer would be refused', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const path = `/user/${user.id}/timeslots/update`
    dataOf(await stage.service.call('PUT', path, { body: { timeslots: [{ ...closed(), is_active: 1 }] } }))
    const { request_id } = await stage.ask(user)
    await open(phone, request_id)
    await phone.page.getByText(/When you can approve: Night shift \(\w+ 03:00-03:01\), UTC/).waitFor()
    const warning = phone.page.getByRole('status').getByText('An approval would be refused')
    await warning.getByText('outside the hours').waitFor()
    await phone.tap('Approve')
    await phone.sees('Not approved')
    await phone.page.getByText('outside the hours when you can approve (Night shift)').waitFor()
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'denied' })
  })

  test('names the places, also of a rule that is newer than the session', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    await stage.locate(phone)
    await stage.setFence(user)
    const { request_id } = await stage.ask(user)
    await open(phone, request_id)
    await phone.page.getByText('Where you can approve: Office').waitFor()
    await phone.tap('Approve')
    await phone.sees('Approved')
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'approved' })
  })

  test('says that the location is blocked before the device check, and needs only one', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    await phone.context.grantPermissions([], { origin: stage.origin })
    await stage.setFence(user)
    const { request_id } = await stage.ask(user)
    await open(phone, request_id)
    // A device check would fail now.
    await phone.setOwner(false)
    await phone.tap('Approve')
    await phone.page.getByRole('heading', { name: 'didn’t share its location' }).waitFor()
    await phone.setOwner(true)
    await phone.tap('Approve without location')
    await phone.sees('Not approved')
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'denied' })
  })
})

describe('a request that has ended', () => {
  test('says who ended it', async () => {
    const { phone, request_id } = await opened()
    await stage.service.call('POST', `/svc/v1/approvals/${request_id}/withdraw`, { body: {} })
    await phone.sees('This request was withdrawn')
    const line = phone.page.getByText(/The requester withdrew it (?:at|on) .*\d.*Nothing was approved/)
    await expect(line.waitFor()).resolves.toBeUndefined()
  })

  test('is not an approval when the rules refused it, and says which rule', async () => {
    const { user, phone, request_id } = await opened()
    await stage.setFence(user)
    await phone.tap('Approve')
    await phone.sees('Not approved')
    await phone.page.getByText('location was missing').waitFor()
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'denied' })
  })

  test('was for somebody else', async () => {
    const { phone } = await opened()
    const other = await stage.person()
    await stage.enrolled(other)
    const { request_id } = await stage.ask(other)
    await phone.page.goto(`${stage.origin}/approver#request=${request_id}`)
    await expect(phone.sees('No such request here')).resolves.toBeUndefined()
  })
})

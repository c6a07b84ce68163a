import { describe, expect, test } from 'vitest'
import type { Phone } from './approver-phone.ts'
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
    await phone.page.getByText(/^You approved this at \d/).waitFor()
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'approved' })
  })

  test('is a denial, if that is what was sent', async () => {
    const { phone } = await opened()
    await loseAnswer(phone, 'arrives, cut')
    await phone.tap('Deny')
    await phone.sees('Denied')
    await expect(phone.page.getByText(/^You denied this at \d/).waitFor()).resolves.toBeUndefined()
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
    await expect(phone.page.getByText(/^You approved this at \d/).waitFor()).resolves.toBeUndefined()
  })
})

describe('a request that has ended', () => {
  test('says who ended it', async () => {
    const { phone, request_id } = await opened()
    await stage.service.call('POST', `/svc/v1/approvals/${request_id}/cancel`, { body: {} })
    await phone.sees('This request was withdrawn')
    const line = phone.page.getByText(/The requester withdrew it at \d.*Nothing was approved/)
    await expect(line.waitFor()).resolves.toBeUndefined()
  })

  test('is not an approval when the rules refused it, and says which rule', async () => {
    const { user, phone, request_id } = await opened()
    await stage.setFence(user, { latitude: 48.1, longitude: 11.5 })
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

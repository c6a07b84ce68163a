import { describe, expect, test } from 'vitest'
import { notifications, push } from './page-push.ts'
import { installHooks, stage } from './open-stage.ts'

installHooks({ notifications: true })

describe('a notification', () => {
  test('says that a request is pending, but not which, and opens it', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id } = await stage.ask(user)
    await phone.sees('1 request is waiting')
    expect(await push(phone, { request_id, organization: 'acme' })).toMatchObject([
      { title: 'acme: a request is waiting', body: 'Open to see the request.', tag: request_id },
    ])
    // Dispatched in the worker itself: a headless browser has no notification shade to tap.
    const [worker] = phone.context.serviceWorkers()
    await worker!.evaluate(`registration.getNotifications().then(([notification]) => {
      dispatchEvent(new NotificationEvent('notificationclick', { notification }))
    })`)
    await phone.tap('Deny')
    await phone.sees('Denied')
    await expect.poll(() => notifications(phone)).toEqual([])
  })

  test('stays if others are shown at the same time', async () => {
    const phone = await stage.enrolled(await stage.person())
    const messages = Array.from({ length: 20 }, (_, index) => ({ request_id: `apr_${index}` }))
    expect(await push(phone, ...messages)).toHaveLength(20)
  })

  test('that names no request is shown once, and goes when the page has read what is pending', async () => {
    const phone = await stage.enrolled(await stage.person())
    const hostile = [{}, { request_id: 5 }, { request_id: '\0', organization: '\u202Eemca' }]
    expect(await push(phone, ...hostile)).toMatchObject([{ title: 'A request is waiting', tag: 'request' }])
    await phone.page.reload()
    await expect.poll(() => notifications(phone)).toEqual([])
  })

  test('says that a group changed, but not which', async () => {
    const phone = await stage.enrolled(await stage.person())
    expect(await push(phone, { notice: 'group', organization: 'acme' })).toMatchObject([
      {
        title: 'acme: who approves requests changed',
        body: 'The audit log shows what changed.',
        tag: 'group',
      },
    ])
  })

  test('opens a request that the page has not loaded yet', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id } = await stage.ask(user)
    await phone.page.goto(`${stage.origin}/approver#request=${request_id}`)
    const approve = phone.page.getByRole('button', { name: 'Approve', exact: true })
    await expect(approve.waitFor()).resolves.toBeUndefined()
  })

  test('shows how to continue when notifications are blocked', async () => {
    const user = await stage.person()
    const phone = await stage.openPhone()
    await phone.page.goto(await stage.linkFor(user.id))
    await phone.tap('Register this device')
    await phone.tap('Continue')
    await phone.sees(/Turn on notifications/)
    await phone.tap('Turn on notifications')
    await phone.page.getByText(/are off|turn on notifications/).waitFor()
    await phone.tap('Continue')
    await expect(phone.sees('No open requests')).resolves.toBeUndefined()
  })
})

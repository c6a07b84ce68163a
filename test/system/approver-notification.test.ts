import { describe, expect, test } from 'vitest'
import { installHooks, stage } from './open-stage.ts'

installHooks()

describe('a notification', () => {
  test('says that a request is pending, but not which, and opens it', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    await phone.context.grantPermissions(['notifications'], { origin: stage.origin })
    const registered = new Promise<string>((resolve) => {
      phone.devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
        if (registrations[0]) resolve(registrations[0].registrationId)
      })
    })
    await phone.devtools.send('ServiceWorker.enable')
    const { request_id } = await stage.ask(user)
    await phone.sees('1 request is waiting')
    // Chromium drops a push to a worker that is still being installed.
    await phone.page.evaluate('navigator.serviceWorker.ready.then(() => undefined)')
    await phone.devtools.send('ServiceWorker.deliverPushMessage', {
      origin: stage.origin,
      registrationId: await registered,
      data: JSON.stringify({ request_id, organization: 'acme' }),
    })
    const shown = `navigator.serviceWorker.ready.then((worker) => worker.getNotifications())
      .then((all) => all.map(({ title, body, tag }) => ({ title, body, tag })))`
    await expect
      .poll(() => phone.page.evaluate(shown))
      .toEqual([{ title: 'acme: a request is waiting', body: 'Open to see the request.', tag: request_id }])
    // Dispatched in the worker itself: a headless browser has no notification shade to tap.
    const [worker] = phone.context.serviceWorkers()
    await worker!.evaluate(`registration.getNotifications().then(([notification]) => {
      dispatchEvent(new NotificationEvent('notificationclick', { notification }))
    })`)
    await phone.tap('Deny')
    await phone.sees('Denied')
    await expect.poll(() => phone.page.evaluate(shown)).toEqual([])
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
    await expect(phone.sees('You’re all caught up')).resolves.toBeUndefined()
  })
})

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createClock, minute } from '../clock.ts'
import { createTenant, dataOf, refusal } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'
import { answerTo, begin, confirmed, cookieOf, createPhone, fromPhone, type Phone } from './phone.ts'
import { decryptPush, type PushService, startPushService, subscribeBrowser } from './push-service.ts'

let service: TestService
let pushService: PushService
let clock: ReturnType<typeof createClock>
let ada: Phone
beforeEach(async () => {
  clock = createClock()
  pushService = await startPushService()
  service = await startTestService({ now: clock.now, dev: true })
  ada = await createPhone(service, (await createTenant(service, 'acme')).id, 1)
})
afterEach(async () => {
  await service.close()
  await pushService.close()
})

const subscribe = async ({ cookie }: Phone, path: string) => {
  const browser = subscribeBrowser(`${pushService.origin}${path}`)
  const { endpoint, keys } = browser.subscription
  expect((await fromPhone(service, 'POST', 'push', { cookie, body: { endpoint, keys } })).status).toBe(200)
  return browser
}
const sendTest = ({ cookie }: Phone) => fromPhone(service, 'POST', 'push/test', { cookie, body: {} })
const turnOff = ({ cookie }: Phone) => fromPhone(service, 'DELETE', 'push', { cookie })

describe('a test notification', () => {
  test('goes to the phone and says so, with the name of the organization', async () => {
    const { own, auth } = await subscribe(ada, '/p/1')
    expect((await sendTest(ada)).status).toBe(200)
    await service.delivered()
    const [{ body }] = pushService.received as [PushService['received'][0]]
    expect(JSON.parse(decryptPush(body, own, auth))).toEqual({ test: true, organization: 'acme' })
  })

  test('is refused while notifications are off', async () => {
    expect(refusal(await sendTest(ada))).toEqual([409, 'notifications_off', []])
  })

  test('is sent three times in ten minutes at most', async () => {
    await subscribe(ada, '/p/1')
    for (let n = 0; n < 3; n++) expect((await sendTest(ada)).status).toBe(200)
    expect(refusal(await sendTest(ada))).toEqual([429, 'too_many_tests', []])
    clock.tick(10 * minute)
    expect((await sendTest(await confirmed(service, ada))).status).toBe(200)
  })
})

test('notifications that are turned off on one phone go on at another with the same passkey', async () => {
  const challenge = await begin(service)
  const signedIn = await fromPhone(service, 'POST', 'session', {
    body: { challenge, response: answerTo(challenge, ada.key) },
  })
  const second = { ...ada, cookie: cookieOf(signedIn) }
  await subscribe(ada, '/first')
  await subscribe(second, '/second')
  expect((await turnOff(second)).status).toBe(200)
  await sendTest(ada)
  await service.delivered()
  expect(pushService.received.map(({ path }) => path)).toEqual(['/first'])
  await turnOff(ada)
  expect(dataOf(await fromPhone(service, 'GET', 'session', { cookie: ada.cookie })).subscribed).toBe(false)
})

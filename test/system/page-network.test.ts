import { describe, expect, test } from 'vitest'
import type { Phone } from './page-phone.ts'
import { faults, type Fault } from './bad-network.ts'
import { installHooksBehindProxy, network, open, stage } from './open-stage.ts'

// The page on networks that lose, replace and hold back answers.

installHooksBehindProxy()

const calls = {
  start: ['GET', /approver\/sessions\?wait_s=1$/],
  feed: ['GET', /approver\/sessions\?.*seen=/],
  decide: ['POST', /\/decide$/],
  outcome: ['GET', /approver\/requests\/\w+/],
} as const satisfies Record<string, [string, RegExp]>

/** A phone whose clock the test can turn forward, with its worker, at the inbox. */
const phoneOf = async (user: { id: number }): Promise<Phone> => {
  const phone = await stage.enrolled(user)
  await phone.page.evaluate('navigator.serviceWorker.ready.then(() => true)')
  await phone.page.clock.install()
  await phone.page.reload()
  await phone.sees('No open requests')
  return phone
}

/** Does something whose next call fails. A stalled call ends when the page gives it up. */
const failing = async (
  { page }: Phone,
  [call, fault]: [keyof typeof calls, Fault],
  act: () => unknown,
): Promise<void> => {
  const [method, path] = calls[call]
  const met = network.fail(method, path, fault, 1)
  await act()
  await met
  if (fault === 'stalled') await page.clock.fastForward(call === 'feed' ? 40_000 : 15_000)
}

const alert = ({ page }: Phone, text: string): Promise<void> =>
  page.getByRole('alert').getByText(text).waitFor()

describe('a page that was opened before starts from its cache', () => {
  test('whatever the network answers', async () => {
    const phone = await phoneOf(await stage.person())
    for (const fault of ['502', 'portal', 'stalled', 'before'] as const) {
      network.mend()
      void network.fail('GET', /^\/approver/, fault)
      await phone.page.goto('about:blank')
      await phone.page.goto(`${stage.origin}/approver/`)
      await phone.sees('No open requests')
    }
    expect(phone.misdeeds).toEqual([])
  })

  test('when nothing is answered at all, and says so', async () => {
    const phone = await phoneOf(await stage.person())
    void network.fail('GET', /./, 'stalled')
    await phone.page.reload()
    await phone.sees('Loading your requests')
    await phone.page.clock.fastForward(3_000)
    await phone.page.getByRole('status').getByText('The connection is slow').waitFor()
    await phone.page.clock.fastForward(15_000)
    await phone.sees('No connection')
    network.mend()
    await phone.tap('Try now')
    await phone.sees('No open requests')
    expect(await phone.page.locator('#offline').textContent()).toBe('')
  })
})

describe.each(faults)('an answer that is lost (%s)', (fault) => {
  test('at the start and in the feed ends no session', async () => {
    const user = await stage.person()
    const phone = await phoneOf(user)
    const { page } = phone
    await failing(phone, ['start', fault], () => page.reload())
    // It tries again after two seconds.
    await phone.sees(/^No connection$|^No open requests$/)
    await page.clock.fastForward(2_000)
    await phone.sees('No open requests')

    await failing(phone, ['feed', fault], network.cut)
    await stage.ask(user)
    await phone.sees('1 request is waiting')
    expect(phone.misdeeds).toEqual([])
  })

  test('of a decision, and of its result, leads to what the service recorded', async () => {
    const user = await stage.person()
    const phone = await phoneOf(user)
    const { request_id } = await stage.ask(user)
    await open(phone, request_id)
    await failing(phone, ['outcome', fault], () =>
      failing(phone, ['decide', fault], () => phone.tap('Approve')),
    )
    if (fault !== 'after') {
      await alert(phone, 'Your decision hasn’t arrived. Tap again.')
      await phone.tap('Approve')
    }
    await phone.sees('Approved')
    await phone.page.getByText(/^You approved this (?:at|on) .*\d/).waitFor()
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'approved' })
  })
})

describe('on a stalled network', () => {
  test('an approval says after three seconds that it waits, and never repeats itself', async () => {
    const user = await stage.person()
    const phone = await phoneOf(user)
    const { request_id } = await stage.ask(user)
    await open(phone, request_id)
    let sent = 0
    phone.page.on('request', (one) => void (one.url().endsWith('/decide') && (sent += 1)))
    const met = network.fail(...calls.decide, 'stalled', 1)
    await phone.tap('Approve')
    await met
    await phone.page.getByRole('status').getByText('Sending…').waitFor()
    await phone.page.clock.fastForward(3_000)
    await phone.page.getByText('Still waiting for an answer to your decision').waitFor()
    expect(await phone.page.locator('#offline').textContent()).toBe('')
    await phone.page.clock.fastForward(12_000)
    await alert(phone, 'Your decision hasn’t arrived. Tap again.')
    expect([sent, (await stage.statusOf(request_id)).status]).toEqual([1, 'pending'])
  })
})

describe('once the connection is back', () => {
  test('a decision that did not arrive and the head of the page say the same', async () => {
    const user = await stage.person()
    const phone = await phoneOf(user)
    const { request_id } = await stage.ask(user)
    await open(phone, request_id)
    void network.fail('GET', calls.feed[1], '502')
    void network.fail('GET', /approver\/sessions$/, '502')
    network.cut()
    const offline = phone.page.locator('#offline')
    const told = offline.getByText('No connection.').waitFor()
    await told
    network.mend()
    await failing(phone, ['decide', 'before'], () => phone.tap('Approve'))
    await alert(phone, 'Your decision hasn’t arrived. Tap again.')
    expect(await offline.textContent()).toBe('')
  })

  test('the screen of a link goes on by itself', async () => {
    const user = await stage.person()
    const phone = await stage.openPhone()
    void network.fail('POST', /approver\/enrollment$/, 'before')
    await phone.page.goto(await stage.linkFor(user.id))
    await phone.sees('No connection')
    network.mend()
    await expect(
      phone.page.getByRole('button', { name: 'Register this device' }).waitFor(),
    ).resolves.toBeUndefined()
  })
})

test('a browser that says it is offline is not believed while the service answers', async () => {
  const user = await stage.person()
  const phone = await phoneOf(user)
  await phone.page.evaluate(`
    globalThis.told = []
    new MutationObserver(() => told.push(document.querySelector('#offline').textContent))
      .observe(document.querySelector('#offline'), { childList: true })`)
  const looked = phone.page.waitForResponse(/approver\/sessions$/)
  await phone.page.evaluate(`dispatchEvent(new Event('offline'))`)
  await looked
  const { request_id } = await stage.ask(user)
  await phone.page.locator(`a[href="#request=${request_id}"]`).waitFor()
  expect(await phone.page.evaluate('told')).toEqual([])
})

test('a phone that goes offline says so at once', async () => {
  const phone = await phoneOf(await stage.person())
  await phone.context.setOffline(true)
  await phone.page.locator('#offline').getByText('No connection.').waitFor()
  await phone.context.setOffline(false)
  await expect.poll(() => phone.page.locator('#offline').textContent()).toBe('')
})

test('a link tries again by itself one call at a time, however often the person tries too', async () => {
  const phone = await stage.openPhone()
  const link = await stage.linkFor((await stage.person()).id)
  await phone.page.clock.install()
  await phone.page.clock.pauseAt(Date.now() + 60_000)
  let calls = 0
  const failed = (): Promise<unknown> => phone.page.waitForResponse(/approver\/enrollment$/)
  void network.fail('POST', /approver\/enrollment$/, () => {
    calls += 1
    return { status: 502, body: '<h1>Bad Gateway</h1>' }
  })
  const first = failed()
  await phone.page.goto(link)
  await first
  for (let taps = 0; taps < 3; taps++) {
    const answered = failed()
    await phone.tap('Try again')
    await answered
  }
  await phone.page.getByRole('button', { name: 'Try again', disabled: false }).waitFor()
  const before = calls
  const again = failed()
  await phone.page.clock.fastForward(2_000)
  await again
  await phone.page.clock.fastForward(1_000)
  expect(calls - before).toBe(1)
  network.mend()
  await phone.page.clock.fastForward(2_000)
  await phone.sees('Hello Ada')
})

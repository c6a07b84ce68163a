import type { Locator } from 'playwright-core'
import { ask } from '../../service/approver.ts'
import { chainOf, dataOf } from '../../service/fixtures.ts'
import type { Phone } from '../page-phone.ts'
import type { Stage } from '../page-stage.ts'
import type { BadNetwork } from '../bad-network.ts'

// The ways in which a person makes the page call the service.

type Asked = { request_id: string; number: string | null }

export type Person = { id: number; mobile: string }

/** A tap that makes a call, what it must show when the answer is lost, and where it must end. */
export type Play = {
  phone: Phone
  /** Whose phone it is, if not the administrator's. */
  owner?: Person
  /** It is not active yet. */
  isPending?: boolean
  /** The page notices only with the next call that its session has ended. */
  isUnwatched?: boolean
  /** Opens what is folded, before the first tap. */
  reveal?: (on?: Phone) => Promise<unknown>
  /** On the phone, or on another tab of it. */
  tap: (on?: Phone) => unknown
  /** What the page shows when it has no answer. */
  says: () => Promise<unknown>
  /** After `says`; by default the same tap. */
  again?: () => unknown
  /** The service has committed, and the page knows: nothing remains to be tapped. */
  knows?: boolean
  done: (on?: Phone) => Promise<unknown>
  /** How often it has happened, as the service knows it. */
  happened?: () => Promise<number>
}

export type Scenario = (scene: Scene) => Promise<Play>

/** Waits until it is on the screen. */
export const visible = (one: Locator): Promise<void> => one.first().waitFor()

export const alert = ({ page }: Phone, text: string | RegExp): Promise<void> =>
  visible(page.getByRole('alert').getByText(text))

export const status = ({ page }: Phone, text: string | RegExp): Promise<void> =>
  visible(page.getByRole('status').getByText(text))

export const unreachable = (phone: Phone): Promise<void> => alert(phone, 'Can’t reach the service')

/** `openSheets` is the number of device checks that wait for the person. */
const countSheets = `if (globalThis.CredentialsContainer) {
  let open = 0
  for (const name of ['get', 'create']) {
    const original = CredentialsContainer.prototype[name]
    CredentialsContainer.prototype[name] = function (options) {
      open += 1
      return original.call(this, options).finally(() => (open -= 1))
    }
  }
  Object.defineProperty(globalThis, 'openSheets', { get: () => open })
}`

/** Opens a screen from the inbox. */
const show = async ({ page }: Phone, hash: string): Promise<void> => {
  // Once more, so that a screen that is open is read again.
  await page.evaluate(`location.hash = ''`)
  await visible(page.locator('a[href="#devices"]'))
  await page.evaluate(`location.hash = '${hash}'`)
}

/** One stage for many scenarios. They share a phone as far as they leave it signed in. */
export const createScene = (stage: Stage, network: BadNetwork) => {
  let shared: { phone: Phone; user: Person; since: number } | undefined
  let requests = 0

  /** A phone whose clock the test can turn forward. */
  const openPhone = async (): Promise<Phone> => {
    const phone = await stage.openPhone()
    await phone.context.addInitScript(countSheets)
    await phone.page.clock.install()
    return phone
  }
  const enrolled = async (user: Person): Promise<Phone> => {
    const phone = await openPhone()
    await phone.page.goto(await stage.linkFor(user.id))
    await phone.tap('Register this device')
    await stage.reachesInbox(phone)
    return phone
  }
  const spoil = async (): Promise<void> => {
    const spoiled = shared
    shared = undefined
    await spoiled?.phone.context.close()
  }
  const admin = async () => {
    // Later, the page asks whether it is still they.
    if (shared && Date.now() - shared.since > 3 * 60_000) await spoil()
    if (!shared) {
      const user = await stage.person()
      await stage.makeAdmin(user)
      shared = { user, phone: await enrolled(user), since: Date.now() }
      await shared.phone.page.evaluate('navigator.serviceWorker.ready.then(() => true)')
    }
    const { page } = shared.phone
    await page.goto('about:blank')
    await page.goto(`${stage.origin}/approver`)
    await visible(page.locator('a[href="#devices"]'))
    return shared
  }
  return {
    stage,
    network,
    openPhone,
    enrolled,
    show,
    /** An administrator at the inbox, who is the same until their phone is spoiled. */
    admin,
    /** Whose phone a scenario uses if it names nobody. */
    owner: (): Person => shared!.user,
    /** The next scenario gets another phone. */
    spoil,
    /** Asks with a key of its own, because a key may ask a person only so often. */
    ask: async (
      user: Person,
      { count = 1, ...more }: { count?: number; number?: true } = {},
    ): Promise<Asked[]> => {
      requests += 1
      const body = { name: `agent ${requests}`, org_id: stage.org.id, scopes: ['ask'] }
      const { key } = dataOf(await stage.service.call('POST', '/svc/v1/keys', { body }))
      const asked = []
      for (let n = 0; n < count; n++)
        asked.push(
          dataOf(await ask(stage.service, user, { action: `Deploy ${requests}.${n}`, ...more }, key)),
        )
      return asked
    },
    statusOf: async (id: string): Promise<string> => (await stage.statusOf(id)).status,
    /** How often the organization has a row of this action in its audit log, from now on. */
    audited: async (action: string, change?: string): Promise<() => Promise<number>> => {
      const count = async (): Promise<number> =>
        (await chainOf(stage.service, stage.org.id)).filter(
          (row) => row.action === action && (change === undefined || row.changes.includes(change)),
        ).length
      const before = await count()
      return async () => (await count()) - before
    },
  }
}

export type Scene = ReturnType<typeof createScene>

/** A screen that is read when it is opened. */
export const reading =
  (hash: string, title: string): Scenario =>
  async ({ admin, show }) => {
    const { phone } = await admin()
    return readingAt(phone, () => show(phone, hash), title)
  }

export const readingAt = (phone: Phone, tap: () => unknown, title: string): Play => {
  const unread = phone.page.getByRole('status').getByText('This can’t be read now')
  return {
    phone,
    tap,
    says: () => visible(unread),
    again: () => phone.tap('Try again'),
    done: async () => {
      await phone.sees(title)
      await unread.waitFor({ state: 'detached' })
      await phone.page.locator('.reading:empty').waitFor({ state: 'attached' })
    },
  }
}

import { fileURLToPath } from 'node:url'
import type { BrowserContextOptions } from 'playwright-core'
import { createMember, createTenant, dataOf } from '../service/fixtures.ts'
import { ask, show } from '../service/approver.ts'
import { remote } from '../e2e/person.ts'
import { startService } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { createPhone, launch, type Phone } from './page-phone.ts'

const operator = 'svc_op_approver_0123456789012345678901234567890'

const clockShift = fileURLToPath(new URL('../torture/clock-shift.cjs', import.meta.url))

const office = { latitude: 48.1, longitude: 11.5 }

/** From a new registration to the inbox, past what it says and the offer of notifications. */
const reachesInbox = async (phone: Phone): Promise<void> => {
  await phone.sees(/is registered|Turn on notifications|No open requests/)
  if (await phone.page.getByRole('button', { name: 'Continue' }).isVisible()) await phone.tap('Continue')
  await phone.sees(/Turn on notifications|No open requests/)
  if (await phone.page.getByRole('button', { name: 'Not now' }).isVisible()) await phone.tap('Not now')
  await phone.sees('No open requests')
}

export type StageOptions = {
  env?: Record<string, string>
  between?: Between
  /** Whether the phones show notifications. */
  notifications?: boolean
}

/** What is between phones and service, at an address of its own. */
type Between = { origin: string; flags?: string[]; connect(service: string): void; close(): void }

/** The real service with an organization, and a browser that opens phones. */
export const createStage = async ({ env = {}, between, notifications = false }: StageOptions = {}) => {
  const folder = temporaryFolder()
  const args = between ? ['--dev', '--public-url', between.origin] : ['--dev']
  let running = await startService(folder.path, operator, args, env)
  const service = remote(running.baseUrl, operator)
  const origin = between?.origin ?? `http://localhost:${new URL(running.baseUrl).port}`
  between?.connect(running.baseUrl)
  const org = await createTenant(service, 'acme')
  const browser = await launch(between?.flags, { notifications })
  let people = 0

  const linkFor = async (user: number): Promise<string> =>
    dataOf(
      await service.call('POST', `/svc/v1/organizations/${org.id}/users/${user}/enrollments`, { body: {} }),
    ).url

  const devicesOf = async ({ id }: { id: number }): Promise<{ id: string; state: string }[]> =>
    dataOf(await service.call('GET', `/svc/v1/organizations/${org.id}/users/${id}/devices`))

  /** A phone that has just registered, on whatever screen it shows. */
  const registered = async (user: { id: number }, scheme?: 'light' | 'dark'): Promise<Phone> => {
    const phone = await createPhone(browser, origin, scheme)
    await phone.page.goto(await linkFor(user.id))
    await phone.tap('Register this device')
    return phone
  }

  return {
    service,
    baseUrl: running.baseUrl,
    registered,
    reachesInbox,
    log: (): string => running.log(),
    origin,
    toolsUrl: `${origin}/mcp`,
    org,
    browser,
    linkFor,
    openPhone: (scheme?: 'light' | 'dark', more?: BrowserContextOptions): Promise<Phone> =>
      createPhone(browser, origin, scheme, more),
    /** A new person for each test, because one phone receives at most five requests in ten minutes. */
    person: async (more: object = {}): Promise<{ id: number; mobile: string; mobile_e164: string }> => {
      people += 1
      return createMember(service, org.id, people, more)
    },
    /** A phone of theirs that is registered and shows the inbox. */
    enrolled: async (user: { id: number }, scheme?: 'light' | 'dark'): Promise<Phone> => {
      const phone = await registered(user, scheme)
      await reachesInbox(phone)
      return phone
    },
    setPolicy: async (policy: object): Promise<void> => {
      dataOf(await service.call('PUT', `/organization/${org.id}/update`, { body: { policy } }))
    },
    devicesOf,
    revokeDevices: async (user: { id: number }, states: readonly string[] = ['active']): Promise<void> => {
      const devices = await devicesOf(user)
      for (const device of devices.filter(({ state }) => states.includes(state)))
        dataOf(await service.call('DELETE', `/svc/v1/organizations/${org.id}/devices/${device.id}`))
    },
    ask: async (approver: { mobile: string }, more: object = {}) =>
      dataOf(await ask(service, approver, more)) as { request_id: string; number: string | null },
    makeAdmin: async ({ id }: { id: number }): Promise<void> => {
      dataOf(await service.call('POST', '/make-admin', { body: { org_id: org.id, user_id: id } }))
    },
    putOnHold: async ({ id }: { id: number }): Promise<void> => {
      dataOf(await service.call('POST', `/organization/${org.id}/user/${id}/pending`, { body: {} }))
    },
    accept: async ({ id }: { id: number }): Promise<void> => {
      dataOf(await service.call('POST', `/organization/${org.id}/user/${id}/accept`, { body: {} }))
    },
    removeMember: async ({ id }: { id: number }): Promise<void> => {
      dataOf(
        await service.call('POST', '/organization/remove/user', { body: { org_id: org.id, user_id: id } }),
      )
    },
    /** The office is the only place where this person can approve. */
    setFence: async ({ id }: { id: number }): Promise<void> => {
      const geofences = [{ name: 'Office', radius: 200, enabled: true, ...office }]
      dataOf(await service.call('PUT', `/user/${id}/geofences/update`, { body: { geofences } }))
    },
    /** The phone reports where it is. */
    locate: async ({ context }: Phone, place = office): Promise<void> => {
      await context.grantPermissions(['geolocation'], { origin })
      await context.setGeolocation({ ...place, accuracy: 10 })
    },
    waiting: async (): Promise<number[]> =>
      dataOf(await service.call('GET', `/organization/${org.id}/pending/users`)).map(
        (user: { id: number }) => user.id,
      ),
    statusOf: async (id: string): Promise<{ status: string; detail: string | null }> =>
      dataOf(await show(service, id)),
    /** At the same address, with its clock turned forward. */
    restart: async (shiftMs: number): Promise<void> => {
      await running.stop()
      const { port } = new URL(running.baseUrl)
      const clock = { NODE_OPTIONS: `--require=${clockShift}`, CLOCK_SHIFT_MS: String(shiftMs) }
      running = await startService(folder.path, operator, [...args, '--port', port], { ...env, ...clock })
    },
    closePhones: async (): Promise<void> => {
      await Promise.all(browser.contexts().map((context) => context.close()))
    },
    close: async (): Promise<void> => {
      await browser.close()
      between?.close()
      await running.stop()
      folder.remove()
    },
  }
}

export type Stage = Awaited<ReturnType<typeof createStage>>

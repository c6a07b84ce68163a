import { dataOf } from '../../service/fixtures.ts'
import { lapse, type Phone } from '../page-phone.ts'
import {
  type Person,
  type Play,
  reading,
  type Scenario,
  type Scene,
  status,
  unreachable,
  visible,
} from './scene.ts'

/** Registers a device that has to be approved, without a browser. */
const register = async ({ stage }: Scene, user: Person): Promise<Phone> => {
  const phone = await stage.registered(user)
  await phone.sees(/^Waiting for/)
  return phone
}

const atDevices = async (scene: Scene, phone: Phone): Promise<void> => {
  await scene.show(phone, 'devices')
  await visible(phone.page.locator('li.member'))
}

/** Of an own device: what administrators approve for others comes first. */
const answerOn = ({ page }: Phone, button: 'Approve' | 'Refuse') =>
  page.getByRole('button', { name: button, exact: true }).last()

/** A new device of the administrator, and the way to it. */
const answered =
  (button: 'Approve' | 'Refuse', done: RegExp, change: string): Scenario =>
  async (scene) => {
    const { phone, user } = await scene.admin()
    const other = await register(scene, user)
    await atDevices(scene, phone)
    await visible(phone.page.getByRole('button', { name: button, exact: true }))
    await other.context.close()
    return {
      phone,
      tap: (on = phone) => answerOn(on, button).click(),
      says: () => unreachable(phone),
      done: (on = phone) => status(on, done),
      knows: true,
      happened: await scene.audited(button === 'Approve' ? 'approveDevice' : 'moveDevice', change),
    }
  }

const removed: Scenario = async (scene) => {
  const { stage, audited } = scene
  const { phone, user } = await scene.admin()
  const other = await register(scene, user)
  await atDevices(scene, phone)
  await answerOn(phone, 'Approve').click()
  await status(phone, 'Approved.')
  await other.context.close()
  const devices = dataOf(
    await stage.service.call('GET', `/svc/v1/organizations/${stage.org.id}/users/${user.id}/devices`),
  ) as { state: string }[]
  if (devices.filter(({ state }) => state === 'active').length < 2) throw new Error('One device alone')
  // Any of them: earlier scenarios have added some for the same person.
  const remove = phone.page
    .locator('li.member')
    .filter({ hasNotText: 'This device' })
    .getByRole('button', { name: /^Remove / })
    .first()
  await visible(remove)
  return {
    phone,
    reveal: () => remove.click(),
    tap: () => phone.tap('Remove'),
    says: () => unreachable(phone),
    done: () => status(phone, 'Removed.'),
    happened: await audited('moveDevice', 'revoked_at'),
  }
}

let recoveries = 0

const recovered: Scenario = async (scene) => {
  const { stage, audited } = scene
  const { phone } = await scene.admin()
  recoveries += 1
  const name = `Recovers ${'I'.repeat(recoveries)}.`
  const user = await stage.person({ first_name: 'Grace', last_name: name })
  const lost = await stage.registered(user)
  await lost.sees('This device is registered')
  await lost.context.close()
  await stage.revokeDevices(user)
  const next = await register(scene, user)
  await next.context.close()
  await atDevices(scene, phone)
  const item = phone.page.locator('li.member').filter({ hasText: `Grace ${name}` })
  return {
    phone,
    tap: () => item.getByRole('button', { name: 'Approve' }).click(),
    says: () => unreachable(phone),
    done: () => status(phone, /approved\.|The answer was lost/),
    knows: true,
    happened: await audited('approveDevice', 'bound_at'),
  }
}

const linked: Scenario = async ({ admin, show }) => {
  const { phone } = await admin()
  await show(phone, 'add-device')
  await phone.sees('Add a device')
  return {
    phone,
    tap: () => phone.tap('Create a link'),
    says: () => unreachable(phone),
    done: () => visible(phone.page.getByText('#enroll=')),
  }
}

/** A phone that was removed, whose owner sees a new device that they do not know. */
const refused: Scenario = async (scene) => {
  const { stage, enrolled, audited } = scene
  const user = await stage.person()
  const phone = await enrolled(user)
  await stage.revokeDevices(user)
  await phone.sees('This device was removed')
  const thief = await register(scene, user)
  await thief.context.close()
  return {
    phone,
    owner: user,
    reveal: async () => {
      // Only the key proves whose phones are shown.
      await phone.tap('Sign in')
      await visible(phone.page.getByRole('button', { name: 'Refuse' }))
    },
    tap: () => phone.tap('Refuse'),
    says: () => unreachable(phone),
    done: () => status(phone, 'Refused.'),
    happened: await audited('refuseNewDevice', 'refused'),
  } satisfies Play
}

/** A session whose device signed too long ago asks for a signature before it shows the devices. */
const confirmed: Scenario = async (scene) => {
  const phone = await scene.enrolled(await scene.stage.person())
  await lapse(phone)
  await scene.show(phone, 'devices')
  await visible(phone.page.getByRole('dialog'))
  return {
    phone,
    tap: () => phone.tap('Confirm'),
    says: () => unreachable(phone),
    done: () => visible(phone.page.locator('li.member')),
  }
}

export const devices: Record<string, Scenario> = {
  beginConfirmation: confirmed,
  confirmSession: confirmed,
  listOwnDevices: reading('devices', 'Devices'),
  renameOwnDevice: async (scene) => {
    const { phone } = await scene.admin()
    await atDevices(scene, phone)
    const rename = phone.page.getByRole('button', { name: /^Rename/ }).first()
    return {
      phone,
      reveal: async () => {
        await rename.click()
        await phone.page.getByLabel('Name of the device').fill('Kitchen')
      },
      tap: () => phone.tap('Save'),
      says: () => unreachable(phone),
      done: () => status(phone, 'The device is now called Kitchen.'),
    }
  },
  beginDeviceLink: linked,
  createDeviceLink: linked,
  beginDeviceMove: answered('Refuse', /refused\.|The answer was lost/, 'refused'),
  moveDevice: answered('Approve', /approved\.|The answer was lost/, 'proof'),
  'moveDevice, refuse': answered('Refuse', /refused\.|The answer was lost/, 'refused'),
  'moveDevice, remove': removed,
  'moveDevice, recovery': recovered,
  beginDeviceRefusal: refused,
  refuseNewDevice: refused,
}

import { setTimeout } from 'node:timers/promises'
import { withoutPhones } from '../../../src/cli/terminal/mask-prose.ts'
import { patienceMs } from '../../patience.mts'
import type { Phone } from '../page-phone.ts'
import { alert, type Person, type Scenario, type Scene, unreachable } from './scene.ts'

// A first phone that becomes active with a code. It asks for a device check before it sends the code.

const elevenMinutesMs = 11 * 60_000

/** The codes that were sent to a person, once there are so many. */
const codesSentTo = async ({ stage }: Scene, { mobile }: Person, count: number): Promise<string[]> => {
  const sent = (): string[] =>
    [...stage.log().matchAll(/to (\S+): (\d{6}) registers/g)].flatMap(([, to, code]) =>
      to === withoutPhones(`+1${mobile}`) ? [code!] : [],
    )
  for (const until = Date.now() + patienceMs; sent().length < count && Date.now() < until;)
    await setTimeout(20)
  if (sent().length !== count) throw new Error(`${sent().length} codes were sent, not ${count}`)
  return sent()
}

const waitingForCode = async (scene: Scene, user: Person): Promise<Phone> => {
  const { stage } = scene
  await stage.setPolicy({ device_proof: 'otp' })
  const phone = await scene.openPhone()
  await phone.page.goto(await stage.linkFor(user.id))
  await phone.tap('Register this device')
  await phone.sees('Enter the code')
  await stage.setPolicy({ device_proof: 'link' })
  return phone
}

const enter = async (phone: Phone, code: string): Promise<void> => {
  await phone.page.getByLabel('Code').fill(code)
  await phone.tap('Confirm')
}

/** Back at the screen for the code, also after a reload, which starts with the sign-in. */
const atCode = async (phone: Phone): Promise<void> => {
  await phone.sees(/^Sign in$|^Enter the code$/)
  if (await phone.page.getByRole('button', { name: 'Sign in' }).isVisible()) await phone.tap('Sign in')
  await phone.sees('Enter the code')
}

const activeDevicesOf = async ({ stage }: Scene, user: Person): Promise<number> =>
  (await stage.devicesOf(user)).filter(({ state }) => state === 'active').length

const hasActive = async (scene: Scene, user: Person, count: number): Promise<void> => {
  const found = await activeDevicesOf(scene, user)
  if (found !== count) throw new Error(`${found} active devices, not ${count}`)
}

/** The person has one phone and its code. */
const rightCode: Scenario = async (scene) => {
  const user = await scene.stage.person()
  const phone = await waitingForCode(scene, user)
  const [code] = await codesSentTo(scene, user, 1)
  return {
    phone,
    owner: user,
    isPending: true,
    reveal: () => atCode(phone),
    tap: () => enter(phone, code!),
    says: () => unreachable(phone),
    done: () => scene.stage.reachesInbox(phone),
    happened: () => activeDevicesOf(scene, user),
  }
}

/** A code that proves nothing, and then the one that does. */
const badCode =
  (
    prepare: (
      scene: Scene,
      phone: Phone,
      user: Person,
    ) => Promise<{ bad: string; right: () => Promise<string> }>,
  ): Scenario =>
  async (scene) => {
    const user = await scene.stage.person()
    const phone = await waitingForCode(scene, user)
    const { bad, right } = await prepare(scene, phone, user)
    return {
      phone,
      owner: user,
      tap: () => enter(phone, bad),
      says: () => unreachable(phone),
      done: async () => {
        await alert(phone, 'The code is wrong')
        await hasActive(scene, user, 0)
        await enter(phone, await right())
        await scene.stage.reachesInbox(phone)
        await hasActive(scene, user, 1)
      },
    }
  }

const sendAnother = async (phone: Phone): Promise<void> => {
  await phone.tap('Send a new code')
  await alert(phone, 'We sent a new code.')
}

export const codes: Record<string, Scenario> = {
  'openSession, with a code': rightCode,
  'beginSession, with a code': rightCode,
  'openSession, with an earlier code': badCode(async (scene, phone, user) => {
    const [bad] = await codesSentTo(scene, user, 1)
    await sendAnother(phone)
    const [, right] = await codesSentTo(scene, user, 2)
    return { bad: bad!, right: async () => right! }
  }),
  'openSession, with the code of another device': badCode(async (scene, _, user) => {
    const other = await waitingForCode(scene, user)
    const [right, bad] = await codesSentTo(scene, user, 2)
    await other.context.close()
    return { bad: bad!, right: async () => right! }
  }),
  /** The first phone is active by then, and approves every further one. */
  'openSession, with a used code': async (scene) => {
    const user = await scene.stage.person()
    const phone = await waitingForCode(scene, user)
    const first = await waitingForCode(scene, user)
    const [, code] = await codesSentTo(scene, user, 2)
    await enter(first, code!)
    await scene.stage.reachesInbox(first)
    await first.context.close()
    return {
      phone,
      owner: user,
      tap: () => enter(phone, code!),
      says: () => unreachable(phone),
      done: async () => {
        await phone.sees('Waiting for your other device')
        await hasActive(scene, user, 1)
      },
    }
  },
  sendDeviceCode: async (scene) => {
    const phone = await waitingForCode(scene, await scene.stage.person())
    return {
      phone,
      reveal: () => atCode(phone),
      tap: () => phone.tap('Send a new code'),
      says: () => unreachable(phone),
      done: () => alert(phone, 'We sent a new code.'),
    }
  },
  'openSession, with an expired code': badCode(async (scene, phone, user) => {
    const [bad] = await codesSentTo(scene, user, 1)
    await scene.stage.restart(elevenMinutesMs)
    return {
      bad: bad!,
      right: async () => {
        await sendAnother(phone)
        return (await codesSentTo(scene, user, 1))[0]!
      },
    }
  }),
}

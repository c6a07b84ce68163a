import { dataOf } from '../../service/fixtures.ts'
import { request } from '../../torture/enrolled-approver.ts'
import { confirmPhone, emailLinkFor } from '../../torture/mobile-account.ts'
import type { Phone } from '../page-phone.ts'
import { alert, type Person, type Scenario, type Scene, unreachable, visible } from './scene.ts'

const devicesOf = async ({ stage }: Scene, { id }: Person): Promise<number> =>
  dataOf(await stage.service.call('GET', `/svc/v1/organizations/${stage.org.id}/users/${id}/devices`)).length

const signedOut = async (scene: Scene): Promise<Phone> => {
  const { phone } = await scene.admin()
  await phone.context.clearCookies()
  await phone.page.reload()
  await phone.sees('Sign in')
  return phone
}

const signingIn: Scenario = async (scene) => {
  const phone = await signedOut(scene)
  return {
    phone,
    tap: () => phone.tap('Sign in'),
    says: () => unreachable(phone),
    done: () => phone.sees('No open requests'),
  }
}

const starting: Scenario = async (scene) => {
  const { phone } = await scene.admin()
  return {
    phone,
    tap: () => phone.page.reload(),
    says: () => phone.sees('No connection'),
    again: () => phone.tap('Try now'),
    done: () => phone.sees('No open requests'),
  }
}

const linkStillWorks = 'Can’t reach the service. Your link still works.'

/** The link from the e-mail of somebody who has just confirmed a phone. */
const emailLink = async ({ stage }: Scene) => {
  const service = { baseUrl: `${stage.origin}/admin/public/api`, log: stage.log }
  const email = `grace${Date.now()}@acme.example`
  const { mobile } = await confirmPhone(service, stage.service.operatorKey, { email })
  return { service, email, mobile, link: await emailLinkFor(service, email) }
}

export const newcomers: Record<string, Scenario> = {
  beginEnrollment: async (scene) => {
    const user = await scene.stage.person()
    const phone = await scene.openPhone()
    const link = await scene.stage.linkFor(user.id)
    // The page tries again by itself, too.
    await phone.page.clock.pauseAt(Date.now() + 60_000)
    return {
      phone,
      tap: () => phone.page.goto(link),
      says: () => visible(phone.page.getByText('Can’t reach the service. Your link still works.')),
      again: () => phone.tap('Try again'),
      done: () => phone.sees('Hello Ada'),
    }
  },
  registerDevice: async (scene) => {
    const user = await scene.stage.person()
    const phone = await scene.openPhone()
    await phone.page.goto(await scene.stage.linkFor(user.id))
    return {
      phone,
      tap: () => phone.tap('Register this device'),
      says: () => alert(phone, 'No answer yet. Try again to finish; this device keeps its key.'),
      done: async () => {
        // The answer that was lost had the session.
        await phone.sees(/^Sign in$|^This device is registered$/)
        if (await phone.page.locator('main').getByText('Sign in to continue.').isVisible())
          await phone.tap('Sign in')
        await scene.stage.reachesInbox(phone)
      },
      happened: () => devicesOf(scene, user),
    }
  },
  readEmailLink: async (scene) => {
    const { email, link } = await emailLink(scene)
    const phone = await scene.openPhone()
    return {
      phone,
      tap: () => phone.page.goto(link),
      says: () => alert(phone, linkStillWorks),
      again: () => phone.tap('Try again'),
      done: () => visible(phone.page.getByText(email)),
    }
  },
  verifyEmail: async (scene) => {
    const { service, mobile, link } = await emailLink(scene)
    const phone = await scene.openPhone()
    await phone.page.goto(link)
    await phone.sees('Is this your e-mail address?')
    return {
      phone,
      tap: () => phone.tap('Yes, confirm'),
      says: () => alert(phone, linkStillWorks),
      done: () => phone.sees('E-mail address confirmed'),
      happened: async () => {
        const { operatorKey } = scene.stage.service
        const found = await request(service.baseUrl, 'getMobileUser', operatorKey, { mobile })
        return Number(found.account?.email_verified_at !== null)
      },
    }
  },
  beginSession: signingIn,
  openSession: signingIn,
  listSessions: starting,
  closeSession: async (scene) => {
    const { phone } = await scene.admin()
    return {
      phone,
      tap: () => phone.tap('Sign out'),
      says: () => visible(phone.page.locator('main').getByText('You may still be signed in.')),
      knows: true,
      done: async () => {
        await phone.sees('Sign in')
        await scene.spoil()
      },
      happened: await scene.audited('closeSession'),
    }
  },
}

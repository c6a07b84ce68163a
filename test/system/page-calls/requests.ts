import { dataOf, fence } from '../../service/fixtures.ts'
import { at } from '../../service/rule-fixture.ts'
import type { Phone } from '../page-phone.ts'
import {
  alert,
  readingAt,
  reading,
  type Scenario,
  type Scene,
  status,
  unreachable,
  visible,
} from './scene.ts'

/** A request on the screen, read to its end. */
const opened = async ({ admin, ask }: Scene, count = 1) => {
  const { phone, user } = await admin()
  const ids = (await ask(user, { count })).map((one) => one.request_id)
  await phone.page.locator(`a[href="#request=${ids[0]}"]`).click()
  await visible(phone.page.getByRole('button', { name: 'Approve', exact: true }))
  return { phone, ids }
}

const reported = async (scene: Scene): Promise<Phone> => {
  const { phone } = await opened(scene)
  await phone.tap('This wasn’t me')
  await phone.tap('Deny and report')
  await phone.sees('Denied')
  return phone
}

const unmuteOn = ({ page }: Phone) => page.getByRole('button', { name: /^Unmute / }).first()

const unmuteAt =
  (place: string): Scenario =>
  async (scene) => {
    const phone = await reported(scene)
    await scene.show(phone, place)
    return {
      phone,
      tap: (on = phone) => unmuteOn(on).click(),
      says: () => unreachable(phone),
      done: (on = phone) => status(on, /can ask again|The answer was lost/),
      knows: true,
      happened: await scene.audited('deleteMute'),
    }
  }

/** After an ordinary denial. */
const reportLater: Scenario = async (scene) => {
  const { phone } = await opened(scene)
  await phone.tap('Deny')
  await phone.sees('Denied')
  await phone.tap('This wasn’t me')
  return {
    phone,
    tap: () => phone.tap('Report'),
    says: () => unreachable(phone),
    done: () => visible(phone.page.getByText('The requester can’t notify you for 20 minutes, and')),
    happened: await scene.audited('reportRequest', 'not_me'),
  }
}

const denyAll: Scenario = async (scene) => {
  const { phone, ids } = await opened(scene, 2)
  return {
    phone,
    reveal: (on = phone) => on.tap('Deny both from this requester'),
    tap: (on = phone) => on.tap('Deny both requests'),
    says: () => unreachable(phone),
    knows: true,
    done: (on = phone) => on.sees(/^Denied$|^2 requests denied$/),
    happened: async () => {
      const states = await Promise.all(ids.map(scene.statusOf))
      return states.every((one) => one === 'denied') ? 1 : 0
    },
  }
}

const deciding =
  (
    end: 'approved' | 'denied',
    tap: (phone: Phone) => Promise<void>,
    reveal?: (phone: Phone) => Promise<void>,
  ): Scenario =>
  async (scene) => {
    const { phone, ids } = await opened(scene)
    return {
      phone,
      ...(reveal && { reveal: (on = phone) => reveal(on) }),
      tap: (on = phone) => tap(on),
      says: () => alert(phone, 'Your decision hasn’t arrived. Tap again.'),
      knows: true,
      done: (on = phone) => on.sees(end === 'approved' ? 'Approved' : 'Denied'),
      happened: async () => Number((await scene.statusOf(ids[0]!)) === end),
    }
  }

export const requests: Record<string, Scenario> = {
  getOwnRequest: async ({ admin, ask, stage, show }) => {
    const { phone, user } = await admin()
    const [one] = await ask(user)
    const id = one!.request_id
    await stage.service.call('POST', `/svc/v1/approvals/${id}/withdraw`, { body: {} })
    await phone.sees('No open requests')
    return {
      phone,
      tap: () => show(phone, `request=${id}`),
      says: () => visible(phone.page.getByText('No connection. The request appears here')),
      // It tries again by itself.
      again: () => undefined,
      done: async () => {
        while (!(await phone.page.getByRole('heading', { name: 'was withdrawn' }).isVisible()))
          await phone.page.clock.runFor(1_000)
      },
    }
  },
  decideApproval: deciding('approved', (phone) => phone.tap('Approve')),
  'decideApproval, deny': deciding('denied', (phone) => phone.tap('Deny')),
  'decideApproval, note': deciding(
    'denied',
    (phone) => phone.tap('Deny'),
    async (phone) => {
      await phone.tap('Deny with a note')
      await phone.page.getByLabel('Note to the requester').fill('Not during the release')
    },
  ),
  'decideApproval, report': deciding(
    'denied',
    (phone) => phone.tap('Deny and report'),
    (phone) => phone.tap('This wasn’t me'),
  ),
  'decideApproval, wrong number': async (scene) => {
    const { admin, ask } = scene
    const { phone, user } = await admin()
    const [asked] = await ask(user, { number: true })
    const { request_id, number } = asked!
    await phone.page.locator(`a[href="#request=${request_id}"]`).click()
    await phone.tap('Approve')
    const fill = async (): Promise<void> => {
      await phone.page.getByLabel('First digit').fill(number![0]!)
      await phone.page.getByLabel('Second digit').fill(number![1] === '1' ? '2' : '1')
      await phone.tap('Approve')
    }
    return {
      phone,
      tap: fill,
      says: () => alert(phone, 'Your decision hasn’t arrived. Tap again.'),
      knows: true,
      done: async () => {
        await alert(phone, 'That number doesn’t match. You have one more try')
        await phone.tap('Deny')
        await phone.sees('Denied')
      },
    }
  },
  listRequestRows: async ({ admin, enrolled, stage }) => {
    const { phone, user } = await admin()
    const { id: org_id } = stage.org
    const other = await stage.person()
    await enrolled(other)
    const members = [String(user.id), String(other.id)]
    const post = (path: string, body: object) => stage.service.call('POST', at(org_id, path), { body })
    dataOf(await post('groups', { name: 'planners', members }))
    const match = { type: 'request', operation: ['geofence'] }
    dataOf(await post('rules', { name: 'places', match, who: ['@planners'] }))
    const rows = ['North', 'South'].map((name) => ({
      operation: 'createGeofence',
      input: { org_id, ...fence, name, is_active: 0 },
    }))
    const asked = await post('batches', { rows })
    await phone.page.locator(`a[href="#request=${dataOf(asked).request_id}"]`).click()
    return {
      phone,
      tap: (on = phone) => on.tap('Show all'),
      says: () => unreachable(phone),
      done: (on = phone) => visible(on.page.getByText('Create geofence in acme: South')),
    }
  },
  beginReport: reportLater,
  reportRequest: reportLater,
  beginDenials: denyAll,
  denyRequests: denyAll,
  listOwnMutes: reading('mutes', 'Muted requesters'),
  listOwnGroups: reading('groups', 'Groups of approvers'),
  beginUnmute: unmuteAt('mutes'),
  unmute: unmuteAt('mutes'),
  'unmute, at the result': async (scene) => {
    const phone = await reported(scene)
    return {
      phone,
      // The result offers it once; from then on, the list does.
      reveal: async () => {
        if (!(await unmuteOn(phone).isVisible())) await scene.show(phone, 'mutes')
      },
      tap: () => unmuteOn(phone).click(),
      says: () => unreachable(phone),
      done: () => status(phone, /can ask (?:you )?again/),
      happened: await scene.audited('deleteMute'),
    }
  },
  'unmute, of a member': unmuteAt('member-mutes'),
  listOrganizationMutes: reading('member-mutes', 'Muted requesters'),
  listOwnDecisions: reading('history', 'Your decisions'),
  listDecisions: reading('activity', 'Decisions of all members'),
  getDecision: async (scene) => {
    const { phone, ids } = await opened(scene)
    await phone.tap('Deny')
    await phone.sees('Denied')
    return readingAt(phone, () => scene.show(phone, `decision=${ids[0]}`), 'Decision')
  },
}

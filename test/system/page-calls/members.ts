import type { Phone } from '../page-phone.ts'
import { type Play, reading, readingAt, type Scenario, status, unreachable, visible } from './scene.ts'

let people = 0

const letters = (): string =>
  [people / 26, people % 26].map((one) => String.fromCharCode(65 + Math.floor(one))).join('')

/** A member with a name that no other has. */
const createMember = ({ stage }: Parameters<Scenario>[0]) => {
  people += 1
  return stage.person({ first_name: 'Grace', last_name: `Hopper ${letters()}` })
}
const nameNow = (): string => `Grace Hopper ${letters()}`

const moved =
  (
    state: 'pending' | 'active',
    button: RegExp,
    done: RegExp,
    ...written: [action: string, change: string]
  ): Scenario =>
  async (scene) => {
    const { admin, stage, show, audited } = scene
    const { phone } = await admin()
    const { page } = phone
    const user = await createMember(scene)
    const name = nameNow()
    if (state === 'pending') await stage.putOnHold(user)
    await show(phone, 'members')
    await phone.sees('Members')
    const itemOn = (on: Phone) => on.page.getByRole('listitem').filter({ hasText: name })
    const item = itemOn(phone)
    const play: Play = {
      phone,
      reveal: async () => {
        if (state === 'active') {
          await page.getByText('Active members').click()
          await visible(page.locator('.person'))
          const search = page.getByLabel('Search by name')
          if (await search.isVisible()) await search.fill(name)
        }
        await visible(item)
      },
      tap: (on = phone) => itemOn(on).getByRole('button', { name: button }).click(),
      says: () => unreachable(phone),
      done: (on = phone) => status(on, done),
      knows: button.source === '^Lift hold$',
      happened: await audited(...written),
    }
    return play
  }

/** Moves that ask first. */
const asked =
  (scenario: Scenario, button: string): Scenario =>
  async (scene) => {
    const play = await scenario(scene)
    const item = play.phone.page.locator('.editing')
    return {
      ...play,
      reveal: async () => {
        await play.reveal?.()
        await play.tap()
      },
      tap: () => item.getByRole('button', { name: button, exact: true }).click(),
    }
  }

export const members: Record<string, Scenario> = {
  listMembers: reading('members', 'Members'),
  'listMembers, active': async ({ admin, show }) => {
    const { phone } = await admin()
    await show(phone, 'members')
    await phone.page.locator('.reading:empty').waitFor({ state: 'attached' })
    return {
      phone,
      tap: () => phone.page.getByText('Active members').click(),
      says: () => visible(phone.page.locator('details').getByText('This can’t be read now')),
      again: () => phone.page.locator('details').getByRole('button', { name: 'Try again' }).click(),
      done: () => visible(phone.page.locator('.person').or(phone.page.getByText('No other members.'))),
    }
  },
  beginMemberMove: moved(
    'pending',
    /^Lift hold$/,
    /is no longer on hold|The answer was lost/,
    'acceptUser',
    'accepted',
  ),
  moveMember: moved(
    'pending',
    /^Lift hold$/,
    /is no longer on hold|The answer was lost/,
    'acceptUser',
    'accepted',
  ),
  'moveMember, reject': asked(
    moved('pending', /^End membership$/, /isn’t a member any more/, 'rejectUser', 'rejected'),
    'End membership',
  ),
  'moveMember, hold': moved('active', /^Hold/, /is on hold/, 'holdUser', 'held'),
  'moveMember, promote': asked(
    moved('active', /^Make admin/, /is an administrator/, 'makeAdmin', 'promoted'),
    'Make admin',
  ),
  'moveMember, link': async (scene) => {
    const { admin, show } = scene
    const { phone } = await admin()
    const user = await createMember(scene)
    await show(phone, `member=${user.id}`)
    await phone.sees(/^Member$/)
    return {
      phone,
      tap: () => phone.tap('Send a link for a new device'),
      says: () => unreachable(phone),
      done: () => status(phone, 'A link to register a phone is on its way by SMS.'),
    }
  },
  listMemberDevices: async (scene) => {
    const { admin, show } = scene
    const { phone } = await admin()
    const user = await createMember(scene)
    return readingAt(phone, () => show(phone, `member=${user.id}`), 'Member')
  },
}

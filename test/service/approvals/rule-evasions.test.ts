import { beforeEach, describe, expect, test } from 'vitest'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { type Approver, createApprover } from '../approver.ts'
import { hour } from '../clock.ts'
import { createMember, dataOf } from '../fixtures.ts'
import { createMobileUser } from '../mobile-user.ts'

// Each call here does what a rule holds, in other words. Nothing may change without the people of the rule.

installHooks()

let bob: Approver
let member: { id: string; email: string }

const organization = (): string => `/svc/v1/organizations/${acme.id}`
const codeOf = ({ status, body }: Awaited<ReturnType<typeof service.call>>) => [status, body.data.code]

/** A rule that holds this command. */
const hold = async (...operation: string[]): Promise<void> => {
  const rule = { name: 'strict', match: { type: 'request', operation }, who: ['@admins'] }
  dataOf(await service.call('POST', `${organization()}/rules`, { body: rule }))
}

beforeEach(async () => {
  bob = await createApprover(service, acme.id, 2)
  member = await createMember(service, acme.id, 3)
  const members = [ada, bob].map(({ id }) => Number(id))
  dataOf(await service.call('POST', `${organization()}/groups`, { body: { name: 'admins', members } }))
})

const send = (method: string, path: string, body?: object) =>
  service.call(method, path, { key: acme.key, ...(body && { body }) })

describe('a rule of "user make-admin" holds', () => {
  beforeEach(() => hold('user make-admin'))

  test('the command itself', async () => {
    const answer = await send('POST', '/make-admin', { org_id: acme.id, user_id: Number(member.id) })
    expect(codeOf(answer)).toEqual([403, 'approval_required'])
  })

  test('an update that makes an administrator', async () => {
    const answer = await send('PUT', `/organization/${acme.id}/update/user/${member.id}`, { role: 'admin' })
    expect(codeOf(answer)).toEqual([403, 'approval_required'])
  })

  test('the creation of an administrator', async () => {
    const body = {
      email: 'new@acme.example',
      country_code: '+1',
      mobile: '2025550199',
      first_name: 'N',
      last_name: 'N',
    }
    const answer = await send('POST', `/organization/${acme.id}/create/user`, { ...body, role: 'admin' })
    expect(codeOf(answer)).toEqual([403, 'approval_required'])
  })

  test('and not other updates', async () => {
    const path = `/organization/${acme.id}/update/user/${member.id}`
    expect((await send('PUT', path, { first_name: 'Grace' })).status).toBe(200)
  })
})

describe.each(['user create', 'user enroll'])('a rule of "%s" holds', (operation) => {
  test('the acceptance of whoever asked to join', async () => {
    const { user_id } = await createMobileUser(service, { mobile: '2025550177' })
    const path = `/organization/${acme.id}/create/auth-code`
    const { code } = dataOf(await service.call('POST', path, { body: { label: 'x' } }))
    dataOf(await service.call('POST', '/user/assign-org', { body: { user_id, auth_code: code } }))
    await hold(operation)
    const answer = await send('POST', `/organization/${acme.id}/user/${user_id}/accept`, {})
    expect(codeOf(answer)).toEqual([403, 'approval_required'])
  })
})

const groupsOf = ({ body }: Awaited<ReturnType<typeof service.call>>): string[] =>
  body.data.request?.lines.map(({ group }: { group: string | null }) => group)
const set = (body: object) => send('POST', `${organization()}/rule-changes`, body)

// One request for several changes of rules and groups does what the single commands do.
describe('a change of several groups and rules is held by a rule of', () => {
  test.each(['group add', 'group remove', 'group delete', 'group create', 'rule create', 'rule delete'])(
    '"%s"',
    async (operation) => {
      const members = [ada, bob].map(({ id }) => Number(id))
      const [carol, dave] = [
        await createApprover(service, acme.id, 4),
        await createApprover(service, acme.id, 5),
      ]
      dataOf(
        await service.call('POST', '/make-admin', { body: { org_id: acme.id, user_id: Number(carol.id) } }),
      )
      const create = (name: string, of: number[]) =>
        service.call('POST', `${organization()}/groups`, { body: { name, members: of } })
      dataOf(await create('devs', [Number(carol.id), Number(dave.id)]))
      dataOf(await create('crew', [Number(carol.id), Number(dave.id)]))
      const loose = { name: 'loose', match: { type: 'file' }, who: ['@crew'] }
      dataOf(await service.call('POST', `${organization()}/rules`, { body: loose }))
      // No rule holds the deletion of a new one.
      clock.tick(25 * hour)
      await hold(operation)
      const bodies: Record<string, object> = {
        'group add': { groups: [{ name: 'devs', members: [Number(carol.id), Number(dave.id), ...members] }] },
        'group remove': { groups: [{ name: 'devs', members: [Number(dave.id)] }] },
        'group delete': { groups: [{ name: 'devs', members: [] }] },
        'group create': { groups: [{ name: 'ops', members: [Number(carol.id)] }] },
        'rule create': { rules: [{ name: 'more', match: { type: 'text' }, who: ['@devs'] }] },
        'rule delete': { removed: ['loose'] },
      }
      const answer = await set(bodies[operation]!)
      expect(codeOf(answer)).toEqual([403, 'approval_required'])
      expect(groupsOf(answer)).toContain('admins')
    },
  )
})

test('a change of nothing is refused, and is not an error of the service', async () => {
  const answer = await service.call('POST', `${organization()}/rule-changes`, { body: { rules: [] } })
  expect(answer.status).toBe(422)
})

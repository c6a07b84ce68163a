import { describe, expect, test } from 'vitest'
import { createSoftwareKey, register as registerKey } from '../../../src/client/software-authenticator.ts'
import { enroll } from '../approver.ts'
import { createMember, createTenant, dataOf } from '../fixtures.ts'
import { codeFor, confirm, createMobileUser, register, send, wrongCode } from '../mobile-user.ts'
import { onPostgres } from '../storage/postgres-databases.ts'
import { acme, beta, countOf, installHooks, installTenants, later, nodes, onEach, statuses } from './nodes.ts'

/** An enrollment of a member. Returns the body with which a device registers, with a key of its own each time. */
const startEnrollment = async (user: string, name: string) => {
  const path = `/svc/v1/organizations/${acme.id}/users/${user}/enrollments`
  const { token, challenge, origin, rp_id, user_handle } = dataOf(
    await nodes[0]!.call('POST', path, { key: acme.key, body: {} }),
  )
  return () => {
    const key = createSoftwareKey('ES256', { rpId: rp_id, userHandle: user_handle })
    return { token, name, response: registerKey(key, { challenge, origin, rpId: rp_id }) }
  }
}

describe.runIf(onPostgres())('at several nodes at the same time', () => {
  installHooks({ dev: true })
  installTenants()

  test('an enrollment link registers one device', async () => {
    const wrong = await countOf(8, async (n) => {
      const { id } = await createMember(nodes[0]!, acme.id, 10 + n)
      const bodyOf = await startEnrollment(id, 'phone')
      const answers = await onEach(({ call }) =>
        call('POST', '/svc/v1/devices', { key: null, body: bodyOf() }),
      )
      return statuses(answers).join() !== '200,410,410'
    })
    expect(wrong).toBe(0)
  })

  test('a user who is removed has no active device, whatever comes first', async () => {
    const wrong = await countOf(12, async (n) => {
      const { id } = await createMember(nodes[0]!, acme.id, 30 + n)
      const body = (await startEnrollment(id, 'phone'))()
      const answers = await Promise.all([
        nodes[0]!.call('POST', '/svc/v1/devices', { key: null, body }),
        nodes[1]!.call('POST', '/organization/remove/user', {
          key: acme.key,
          body: { org_id: acme.id, user_id: id },
        }),
      ])
      expect(statuses(answers)).not.toContain(500)
      const path = `/svc/v1/organizations/${acme.id}/users/${id}/devices`
      const devices: { state: string }[] = dataOf(await nodes[2]!.call('GET', path, { key: acme.key }))
      return devices.some(({ state }) => state === 'active' || state === 'pending')
    })
    expect(wrong).toBe(0)
  })

  test('a code confirms a phone once', async () => {
    const wrong = await countOf(8, async (n) => {
      const mobile = String(2025553000 + n)
      const { registration_token } = dataOf(await register(nodes[0]!, { mobile, key: acme.key }))
      dataOf(await send(nodes[1]!, `+1${mobile}`, acme))
      const otp = await codeFor(nodes[0]!, `+1${mobile}`)
      const answers = await onEach((node) =>
        confirm(node, `+1${mobile}`, otp, { key: acme.key, registration_token }),
      )
      return statuses(answers).join() !== '200,403,403'
    })
    expect(wrong).toBe(0)
  })

  test('five attempts at a code count, however many nodes get them', async () => {
    const wrong = await countOf(4, async (n) => {
      const mobile = `+1${2025553100 + n}`
      dataOf(await send(nodes[0]!, mobile, acme))
      const otp = await codeFor(nodes[0]!, mobile)
      await Promise.all(
        Array.from({ length: 9 }, (_, i) => confirm(nodes[i % 3]!, mobile, wrongCode(otp), acme)),
      )
      const rows = await nodes[0]!.storage.read((db) =>
        db
          .selectFrom('turns')
          .where('kind', '=', 'otp_try')
          .where('subject', '=', mobile)
          .select('slot')
          .execute(),
      )
      return rows.length !== 5 || (await confirm(nodes[1]!, mobile, otp, acme)).status !== 403
    })
    expect(wrong).toBe(0)
  })

  test('five codes are sent to a number in ten minutes', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => send(nodes[n % 3]!, '+12025553200', acme)),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
  })

  test('a refresh token works once, and using it again ends its family', async () => {
    const wrong = await countOf(6, async (n) => {
      const { refresh_token } = await createMobileUser(nodes[0]!, {
        mobile: String(2025553300 + n),
        key: acme.key,
      })
      const answers = await onEach(({ call }) =>
        call('POST', '/wp/mobile/refresh/token', { key: acme.key, body: { refresh_token } }),
      )
      if (statuses(answers).join() !== '200,401,401') return true
      const next = answers.find(({ status }) => status === 200)!.body.data.refresh_token
      const again = await nodes[0]!.call('POST', '/wp/mobile/refresh/token', {
        key: acme.key,
        body: { refresh_token: next },
      })
      return again.status !== 401
    })
    expect(wrong).toBe(0)
  })

  test('an auth code is used as often as it may be', async () => {
    const users = await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        createMobileUser(nodes[n % 3]!, { mobile: String(2025553400 + n), key: acme.key }),
      ),
    )
    const { code } = dataOf(
      await nodes[0]!.call('POST', `/organization/${acme.id}/create/auth-code`, {
        key: acme.key,
        body: { label: 'two', uses: 2 },
      }),
    )
    const answers = await Promise.all(
      users.map(({ user_id }, n) =>
        nodes[n % 3]!.call('POST', '/user/assign-org', {
          key: acme.key,
          body: { user_id, auth_code: code },
        }),
      ),
    )
    expect(statuses(answers)).toEqual([200, 200, 403, 403, 403, 403])
  })

  test('a person who is deleted in one organization and added in another keeps one id', async () => {
    const changed = await countOf(12, async (n) => {
      const mobile = String(2025553500 + n)
      const user = await createMember(nodes[0]!, acme.id, 0, { mobile })
      await enroll(nodes[0]!, acme.id, user.id)
      const [, added] = await Promise.all([
        nodes[0]!.call('DELETE', `/organization/${acme.id}/delete/user/${user.id}`, { key: acme.key }),
        later(n % 12, () => createMember(nodes[1]!, beta.id, 0, { mobile })),
      ])
      return added.id !== user.id
    })
    expect(changed).toBe(0)
  })

  test('people of a large organization that is deleted stay if another adds them', async () => {
    const { id } = await createTenant(nodes[0]!, 'large')
    const mobiles = Array.from({ length: 120 }, (_, n) => String(2025554000 + n))
    await Promise.all(mobiles.map((mobile, n) => createMember(nodes[n % 3]!, id, 0, { mobile })))
    const [deleted, ...added] = await Promise.all([
      nodes[0]!.call('DELETE', `/organization/${id}/delete`),
      ...mobiles
        .slice(0, 12)
        .map((mobile, n) => later(n, () => createMember(nodes[1 + (n % 2)]!, beta.id, 0, { mobile }))),
    ])
    expect(deleted.status).toBe(200)
    const found = await Promise.all(
      added.map((user) => nodes[0]!.call('GET', `/organization/${beta.id}/user/${user.id}`)),
    )
    expect(found.filter(({ status }) => status === 200)).toHaveLength(12)
  })

  test('a registration in one organization outlives the deletion of its person in another', async () => {
    const lost = await countOf(12, async (n) => {
      const mobile = String(2025553600 + n)
      const user = await createMember(nodes[0]!, acme.id, 0, { mobile })
      const [deleted, registered] = await Promise.all([
        nodes[0]!.call('DELETE', `/organization/${acme.id}/delete/user/${user.id}`, { key: acme.key }),
        later(n % 12, () => register(nodes[1]!, { mobile, key: beta.key })),
      ])
      expect([deleted.status, registered.status]).toEqual([200, 200])
      dataOf(await send(nodes[1]!, `+1${mobile}`, beta))
      const otp = await codeFor(nodes[1]!, `+1${mobile}`)
      const { registration_token } = dataOf(registered)
      return (
        (await confirm(nodes[2]!, `+1${mobile}`, otp, { key: beta.key, registration_token })).status !== 200
      )
    })
    expect(lost).toBe(0)
  })
})

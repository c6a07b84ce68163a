import { beforeEach, describe, expect, test } from 'vitest'
import { acme, ada, installHooks, service } from '../acme-with-ada.ts'
import { createApprover, decide, type Approver } from '../approver.ts'
import { auditOf, contentsOf, dataOf, fence, refusal } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { at, holdCalls } from '../rule-fixture.ts'

installHooks()

let grace: Approver
let rules: string
let site: number
let held: { rule: string; group: string }

const remove = (id = site, headers = {}, key = rules) =>
  service.call('DELETE', `/organization/${acme.id}/delete/geo-fence/${id}`, { key, headers })
const fences = async () => dataOf(await service.call('GET', `/organization/${acme.id}/geo-fences`)).length
const approval = (request_id: string) => ({ 'x-svc-approval': request_id })
type Request = { request_id: string; status: string; lines: { people: { user_id: string }[] }[] }
/** The request that a refusal names. */
const requestOf = ({ status, body }: Answer): Request => {
  expect([status, body.data.code]).toEqual([403, 'approval_required'])
  return body.data.request
}
const askedBy = ({ lines }: Request): string[][] =>
  lines.map(({ people }) => people.map(({ user_id }) => user_id))

const setRadius = (radius: number, key: string | undefined, headers = {}) =>
  service.call('PUT', `/organization/${acme.id}/update/geo-fence/${site}`, {
    body: { radius },
    key,
    headers,
  })

/** Replaces the geofences of Grace. */
const setFences = (names: string[], headers = {}) => {
  const geofences = names.map((name) => ({ name, latitude: 1, longitude: 2, radius: 3, enabled: true }))
  const body = { org_id: acme.id, geofences }
  return service.call('PUT', `/user/${grace.id}/geofences/update`, { body, key: rules, headers })
}

beforeEach(async () => {
  grace = await createApprover(service, acme.id, 2)
  rules = dataOf(
    await service.call('POST', '/svc/v1/keys', {
      body: { name: 'rules', org_id: acme.id, scopes: ['rules'] },
    }),
  ).key
  site = dataOf(
    await service.call('POST', `/organization/${acme.id}/create/geo-fence`, {
      body: { ...fence, is_active: 0 },
      key: rules,
    }),
  ).id
  held = await holdCalls(service, acme.id, ['geofence'], [ada.id])
})

describe('a call that a rule covers', () => {
  test('is refused, changes nothing, and requests the approval of the approver', async () => {
    const request = requestOf(await remove())
    expect(request).toMatchObject({ request_id: expect.stringMatching(/^apr_/), status: 'pending' })
    expect(askedBy(request)).toEqual([[ada.id]])
    expect(await fences()).toBe(1)
    const { subject } = dataOf(await service.call('GET', `/svc/v1/approvals/${request.request_id}`))
    expect(subject).toMatchObject({
      type: 'request',
      data: { operation: 'deleteGeofence', organization: { slug: 'acme' }, deletions: [fence.name] },
    })
  })

  test('does not request it again when it is repeated', async () => {
    const first = requestOf(await remove())
    const before = service.notified.length
    expect(requestOf(await remove())).toEqual(first)
    expect(service.notified.length).toBe(before)
  })

  test('succeeds with the approval, once, and its audit names it', async () => {
    const { request_id } = requestOf(await remove())
    dataOf(await decide(service, request_id, ada.key))
    expect((await remove(site, approval(request_id))).status).toBe(200)
    expect(await fences()).toBe(0)
    const rows = await auditOf(service, acme.id)
    expect(rows).toContainEqual([
      'deleteGeofence',
      `geofence:${site}`,
      expect.arrayContaining([`approval:${request_id}`]),
    ])

    const again = await service.call('POST', `/organization/${acme.id}/create/geo-fence`, {
      body: fence,
      key: rules,
      headers: approval(request_id),
    })
    expect(refusal(again)[1]).toBe('other_subject')
  })

  test('is refused with an approval that was used', async () => {
    const { request_id } = requestOf(await remove())
    dataOf(await decide(service, request_id, ada.key))
    // Two at once: one of them has it.
    const answers = await Promise.all([
      remove(site, approval(request_id)),
      remove(site, approval(request_id)),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404])
  })

  test('is refused with an approval for something else', async () => {
    const other = requestOf(
      await service.call('PUT', `/organization/${acme.id}/update/geo-fence/${site}`, {
        body: { radius: 200 },
        key: rules,
      }),
    )
    dataOf(await decide(service, other.request_id, ada.key))
    const before = await contentsOf(service)
    expect(refusal(await remove(site, approval(other.request_id)))[1]).toBe('other_subject')
    expect(await contentsOf(service)).toEqual(before)
  })

  test('is refused if it replaces other values than the approver saw', async () => {
    const { request_id } = requestOf(await setRadius(300, rules))
    const { subject } = dataOf(await service.call('GET', `/svc/v1/approvals/${request_id}`))
    expect(subject.fields).toContainEqual({ label: 'radius', value: '300', before: String(fence.radius) })
    expect(subject.summary).toContain(fence.name)
    dataOf(await decide(service, request_id, ada.key))
    await service.storage.write((db) => db.updateTable('geofences').set({ radius: 151 }).execute(), {
      org: 0,
    })
    expect(refusal(await setRadius(300, rules, approval(request_id)))[1]).toBe('other_subject')
  })

  test('shows the whole list that it replaces', async () => {
    const approved = async (names: string[]): Promise<string> => {
      const { request_id } = requestOf(await setFences(names))
      dataOf(await decide(service, request_id, ada.key))
      return request_id
    }
    dataOf(await setFences(['HQ'], approval(await approved(['HQ']))))
    const id = await approved([])
    const { subject } = dataOf(await service.call('GET', `/svc/v1/approvals/${id}`))
    expect(subject.data.before).toMatchObject({ geofences: [{ name: 'HQ' }] })
    await service.runSql("UPDATE user_geofences SET name = 'Home'")
    expect(refusal(await setFences([], approval(id)))[1]).toBe('other_subject')
  })

  test.each(['pending', 'denied'] as const)('is refused while the request is %s', async (state) => {
    const { request_id } = requestOf(await remove())
    if (state === 'denied') dataOf(await decide(service, request_id, ada.key, { decision: 'deny' }))
    expect(refusal(await remove(site, approval(request_id)))).toEqual([409, 'not_approved', []])
    expect(await fences()).toBe(1)
  })

  test('is refused for any key but the requesting key', async () => {
    const { request_id } = requestOf(await remove())
    dataOf(await decide(service, request_id, ada.key))
    expect(refusal(await remove(site, approval(request_id), acme.key))).toEqual([422, 'unknown_approval', []])
  })

  test('is covered for the operator as well', async () => {
    requestOf(await service.call('DELETE', `/organization/${acme.id}/delete/geo-fence/${site}`))
    expect(await fences()).toBe(1)
  })

  test('asks the people of all rules in one request, and needs each line', async () => {
    await holdCalls(service, acme.id, ['geofence delete', 'timeslot'], [grace.id])
    const request = requestOf(await remove())
    expect(askedBy(request)).toEqual([[ada.id], [grace.id]])
    dataOf(await decide(service, request.request_id, grace.key))
    expect((await remove(site, approval(request.request_id))).status).toBe(409)
    dataOf(await decide(service, request.request_id, ada.key))
    expect((await remove(site, approval(request.request_id))).status).toBe(200)
  })

  test('is not made with an approval from before another rule', async () => {
    const { request_id } = requestOf(await remove())
    dataOf(await decide(service, request_id, ada.key))
    await holdCalls(service, acme.id, ['geofence delete'], [grace.id])
    expect(refusal(await remove(site, approval(request_id)))).toEqual([403, 'approval_required', []])
    expect(await fences()).toBe(1)
  })
})

test('a call that no rule covers needs no approval', async () => {
  expect(
    (
      await service.call('POST', `/organization/${acme.id}/create/auth-code`, {
        body: { label: 'x' },
        key: acme.key,
      })
    ).status,
  ).toBe(200)
})

describe('the rules of an organization', () => {
  test('end with it only if the people of each agree', async () => {
    const request = requestOf(
      await service.call('DELETE', `/organization/${acme.id}/delete`, { key: acme.key }),
    )
    expect(askedBy(request)).toEqual([[ada.id]])
  })

  test('can be removed by the operator, so that nobody is locked out', async () => {
    await holdCalls(service, acme.id, ['rule'], [grace.id])
    dataOf(await service.call('DELETE', at(acme.id, `rules/${held.rule}`)))
    expect((await remove()).status).toBe(200)
  })

  test('are not written in the policy, and the answer says where', async () => {
    const body = { policy: { require_approval: [] } }
    const answer = await service.call('PUT', `/organization/${acme.id}/update`, { body, key: acme.key })
    expect(refusal(answer)).toEqual([422, 'invalid_field', ['policy.require_approval']])
    expect(answer.body.data.issues[0].message).toContain('svc rule create --help')
  })
})

const askedOfBoth = async (): Promise<string> => {
  dataOf(await service.call('DELETE', at(acme.id, `rules/${held.rule}`)))
  await holdCalls(service, acme.id, ['geofence'], [ada.id, grace.id])
  return requestOf(await remove()).request_id
}

describe('a call with two approvers', () => {
  test('is denied if one denies it, and the other can no longer approve it', async () => {
    const id = await askedOfBoth()
    dataOf(await decide(service, id, ada.key, { decision: 'deny' }))
    await expect(decide(service, id, grace.key)).rejects.toThrow('already denied')
    const refused = await remove(site, approval(id))
    expect([refused.status, refused.body.message]).toEqual([
      409,
      'The request is not approved: it is denied (Ada Lovelace (user 1) denied this)',
    ])
    // Asking again is allowed.
    expect(requestOf(await remove()).request_id).not.toBe(id)
    expect(await fences()).toBe(1)
  })

  test('is made once with the approval of one', async () => {
    const id = await askedOfBoth()
    dataOf(await decide(service, id, grace.key))
    await expect(decide(service, id, ada.key)).rejects.toThrow('already approved')
    const answers = await Promise.all([remove(site, approval(id)), remove(site, approval(id))])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404])
    expect(await fences()).toBe(0)
  })
})

import { describe, expect, test } from 'vitest'
import { ask, counted, createApprover, decide, post } from '../approver.ts'
import { ada, createMember, createTenant, dataOf } from '../fixtures.ts'
import { onPostgres } from '../storage/postgres-databases.ts'
import { acme, beta, countOf, installHooks, installTenants, later, nodes, onEach, statuses } from './nodes.ts'

// Only one process can open the embedded store.
describe.runIf(onPostgres())('requests at several nodes at the same time', () => {
  installHooks({ dev: true })
  installTenants()

  describe('in one organization', () => {
    test('give a key name to one key', async () => {
      const doubled = await countOf(15, async (n) => {
        const body = { name: `key ${n}`, org_id: acme.id, scopes: ['ask'] }
        const answers = await onEach(({ call }) => call('POST', '/svc/v1/keys', { body }))
        return answers.filter(({ status }) => status === 200).length !== 1
      })
      expect(doubled).toBe(0)
    })

    test('lose no update of a policy', async () => {
      const lost = await countOf(15, async (n) => {
        const policies = [
          { recovery_delay_s: 3600 + n },
          { require_number: n % 2 === 0 },
          { not_requester: n % 2 === 0 },
        ]
        const answers = await onEach(({ call }, i) =>
          call('PUT', `/organization/${acme.id}/update`, { body: { policy: policies[i] } }),
        )
        expect(statuses(answers)).toEqual([200, 200, 200])
        const { policy } = dataOf(await nodes[0]!.call('GET', `/organization/${acme.id}`))
        return !policies.every((one) => Object.entries(one).every(([name, value]) => policy[name] === value))
      })
      expect(lost).toBe(0)
    })

    test('run a request with one Idempotency-Key once', async () => {
      const wrong = await countOf(20, async (n) => {
        const body = { ...ada, email: 'x@acme.example', mobile: String(2025557000 + n) }
        const headers = { 'idempotency-key': `user ${n}` }
        const answers = await onEach(({ call }) =>
          call('POST', `/organization/${acme.id}/create/user`, { body, headers }),
        )
        const ids = new Set(answers.map(({ body: { data } }) => data.id))
        return ids.size !== 1 || answers.some(({ status }) => status !== 200)
      })
      expect(wrong).toBe(0)
    })
  })

  test('run a request with one Idempotency-Key once, whatever its organization', async () => {
    const both = await countOf(20, async (n) => {
      const headers = { 'idempotency-key': `either ${n}` }
      const answers = await Promise.all(
        [acme, beta].map(({ id }, i) =>
          nodes[i]!.call('POST', `/organization/${id}/create/user`, {
            body: { ...ada, mobile: String(2025557100 + n) },
            headers,
          }),
        ),
      )
      expect(statuses(answers)).not.toContain(500)
      return answers.filter(({ status }) => status === 200).length !== 1
    })
    expect(both).toBe(0)
  })

  test('give a slug to one organization', async () => {
    const wrong = await countOf(10, async (n) => {
      const slug = `slug-${n}`
      const answers = await Promise.all([
        nodes[0]!.call('PUT', `/organization/${acme.id}/update`, { body: { slug } }),
        nodes[1]!.call('PUT', `/organization/${beta.id}/update`, { body: { slug } }),
        nodes[2]!.call('POST', '/organization/create', { body: { name: slug, slug } }),
      ])
      expect(statuses(answers)).not.toContain(500)
      return answers.filter(({ status }) => status === 200).length !== 1
    })
    expect(wrong).toBe(0)
  })

  test('never let an approver have more pending requests than the limit', async () => {
    const over = await countOf(6, async (n) => {
      const approver = await createApprover(nodes[0]!, acme.id, 300 + n)
      const answers = await Promise.all(
        Array.from({ length: 9 }, (_, i) => ask(nodes[i % 3]!, approver, {}, acme.key)),
      )
      return answers.filter(({ status }) => status === 200).length !== 3
    })
    expect(over).toBe(0)
  })

  test('count one of two decisions with one counter of the authenticator', async () => {
    const approver = await createApprover(nodes[0]!, beta.id, 400)
    const both = await countOf(8, async (n) => {
      const ids = await Promise.all(
        [0, 1].map(async () => dataOf(await ask(nodes[0]!, approver, {}, beta.key)).request_id as string),
      )
      const bodies = await Promise.all(ids.map((id) => counted(nodes[0]!, approver.key, n + 1, id)))
      const answers = await Promise.all(ids.map((id, i) => post(nodes[i]!, id, bodies[i]!)))
      for (const id of ids)
        await nodes[0]!.call('POST', `/svc/v1/approvals/${id}/withdraw`, { key: beta.key })
      return statuses(answers).join() !== '200,403'
    })
    expect(both).toBe(0)
  })

  test('answer one decision that arrives at each of them with the approval that it made', async () => {
    const approver = await createApprover(nodes[0]!, beta.id, 402)
    const wrong = await countOf(8, async (n) => {
      const { request_id } = dataOf(await ask(nodes[0]!, approver, {}, beta.key))
      const body = await counted(nodes[0]!, approver.key, n + 1, request_id)
      const answers = await onEach((node) => post(node, request_id, body))
      return new Set(answers.map((one) => dataOf(one).attestation.jws)).size !== 1
    })
    expect(wrong).toBe(0)
  })

  test('use an approval once', async () => {
    const approver = await createApprover(nodes[0]!, beta.id, 401)
    const wrong = await countOf(8, async () => {
      const { request_id, subject } = dataOf(await ask(nodes[0]!, approver, {}, beta.key))
      dataOf(await decide(nodes[1]!, request_id, approver.key))
      const answers = await onEach(({ call }) =>
        call('POST', `/svc/v1/approvals/${request_id}/consume`, {
          key: beta.key,
          body: { digest: subject.digest },
        }),
      )
      return statuses(answers).join() !== '200,409,409'
    })
    expect(wrong).toBe(0)
  })

  test('keep an operator key that does not expire', async () => {
    const lost = await countOf(8, async (n) => {
      const keys = []
      for (let i = 0; i < 2; i++)
        keys.push(
          dataOf(
            await nodes[i]!.call('POST', '/svc/v1/keys', { body: { name: `op ${n} ${i}`, scopes: ['all'] } }),
          ),
        )
      const [one, other] = keys
      const first = dataOf(await nodes[0]!.call('GET', '/svc/v1/whoami'))
      const answers = await Promise.all([
        nodes[0]!.call('DELETE', `/svc/v1/keys/${one.id}`, { key: other.key }),
        nodes[1]!.call('DELETE', `/svc/v1/keys/${other.id}`, { key: one.key }),
      ])
      expect(statuses(answers)).not.toContain(500)
      const left = dataOf(await nodes[2]!.call('GET', '/svc/v1/keys'))
      return !left.some((key: { id: string; revoked_at: string | null }) => key.id === first.id)
    })
    expect(lost).toBe(0)
  })

  test('revoke what a key of the service created, even while it is rotated', async () => {
    const survived = await countOf(12, async (n) => {
      const operator = dataOf(
        await nodes[0]!.call('POST', '/svc/v1/keys', { body: { name: `parent ${n}`, scopes: ['all'] } }),
      )
      const child = dataOf(
        await nodes[0]!.call('POST', '/svc/v1/keys', {
          key: operator.key,
          body: { name: `child ${n}`, org_id: acme.id, scopes: ['all'] },
        }),
      )
      const [, rotated, created] = await Promise.all([
        nodes[0]!.call('DELETE', `/svc/v1/keys/${operator.id}`),
        later(n, () =>
          nodes[1]!.call('POST', `/svc/v1/keys/${child.id}/rotate`, {
            key: child.key,
            body: { overlap_s: 0 },
          }),
        ),
        nodes[2]!.call('POST', '/svc/v1/keys', {
          key: operator.key,
          body: { name: `late ${n}`, org_id: beta.id, scopes: ['ask'] },
        }),
      ])
      const live = []
      for (const { status, body } of [rotated, created])
        if (status === 200) live.push(await nodes[0]!.call('GET', '/svc/v1/whoami', { key: body.data.key }))
      return live.some(({ status }) => status === 200)
    })
    expect(survived).toBe(0)
  })

  test('revoke what a key of the service created in many organizations', async () => {
    const { id, key } = dataOf(
      await nodes[0]!.call('POST', '/svc/v1/keys', { body: { name: 'wide', scopes: ['all'] } }),
    )
    const created: string[] = []
    for (let n = 0; n < 7; n++) {
      const tenant = await createTenant(nodes[n % 3]!, `wide-${n}`)
      const body = { name: 'below', org_id: tenant.id, scopes: ['ask'] }
      created.push(dataOf(await nodes[n % 3]!.call('POST', '/svc/v1/keys', { key, body })).key)
    }
    dataOf(await nodes[1]!.call('DELETE', `/svc/v1/keys/${id}`))
    const answers = await Promise.all(
      created.map((below) => nodes[2]!.call('GET', '/svc/v1/whoami', { key: below })),
    )
    expect(new Set(statuses(answers))).toEqual(new Set([401]))
  })

  test('never erase a person whom another organization adds', async () => {
    const lost = await countOf(25, async (n) => {
      const user = await createMember(nodes[0]!, acme.id, 500 + n)
      const [deleted, created] = await Promise.all([
        nodes[0]!.call('DELETE', `/organization/${acme.id}/delete/user/${user.id}`),
        nodes[1]!.call('POST', `/organization/${beta.id}/create/user`, {
          body: { ...ada, mobile: String(2025550100 + 500 + n) },
        }),
      ])
      expect([deleted.status, created.status]).toEqual([200, 200])
      const found = await nodes[2]!.call('GET', `/organization/${beta.id}/user/${created.body.data.id}`)
      return found.status !== 200
    })
    expect(lost).toBe(0)
  })
})

import { describe, expect, test } from 'vitest'
import { createEngineGateway } from '../../../src/service/approvals/engine-gateway.ts'
import { bearerCaller } from '../../../src/service/mcp/bearer.ts'
import { acme, ada, installHooks, service } from '../acme-with-ada.ts'
import { allScopes } from '../all-scopes.ts'
import { ask, decide, show } from '../approver.ts'
import { dataOf } from '../fixtures.ts'

installHooks()

const gateway = () => createEngineGateway(service.service, bearerCaller)
const ofAcme = () =>
  createEngineGateway(service.service, { keyId: 2, name: 'of acme', orgId: acme.id, scopes: allScopes })
const request = (requester: string) => gateway().request({ ...wanted(), requester })
const notMe = async (requester: string) => {
  const { request_id } = await request(requester)
  dataOf(await decide(service, request_id, ada.key, { decision: 'deny', not_me: true }))
}
const wanted = () => ({ action: 'Deploy', approvers: [ada.mobile] })

describe('the gateway to the engine', () => {
  test('notifies, waits, and returns the receipt', async () => {
    const { request_id, requester } = await gateway().request({ ...wanted(), number: true })
    expect([requester, service.notified.length]).toEqual(['tool server token', 1])
    const waiting = gateway().wait(request_id, 20)
    const { number } = await gateway().status(request_id)
    dataOf(await decide(service, request_id, ada.key, { decision: 'approve', number: number! }))
    expect(await waiting).toMatchObject({ status: 'approved', attestation: { format: 'jws' } })
  })

  test('tells nothing to a key that was revoked meanwhile', async () => {
    const { request_id } = await ofAcme().request(wanted())
    await Promise.all([
      expect(ofAcme().wait(request_id, 20)).rejects.toMatchObject({ code: 'unauthenticated' }),
      // Which ends the request.
      service.call('DELETE', '/svc/v1/keys/2'),
    ])
  })

  test('shows the requesting credential next to the claimed requester', async () => {
    const titled = { ...wanted(), requester: 'Claude Code' }
    expect(await gateway().request(titled)).toMatchObject({
      requester: 'Claude Code',
      verified_as: 'tool server token',
    })
    expect(await ofAcme().request(titled)).toMatchObject({
      requester: 'Claude Code',
      verified_as: 'key "of acme"',
    })
  })

  describe('after "this wasn\'t me"', () => {
    test('mutes the requesting agent, and not every agent with the same bearer', async () => {
      await notMe('Cursor')
      await expect(request('Cursor')).rejects.toMatchObject({ code: 'muted' })
      expect(await request('Claude Code')).toMatchObject({ status: 'pending' })
    })

    test('mutes the bearer after a second name was not expected either', async () => {
      await notMe('Cursor')
      await notMe('Cursor 2')
      await expect(request('Claude Code')).rejects.toMatchObject({ code: 'muted' })
    })

    test('mutes a key under every name that its program claims', async () => {
      const { request_id } = await ofAcme().request({ ...wanted(), requester: 'Cursor' })
      dataOf(await decide(service, request_id, ada.key, { decision: 'deny', not_me: true }))
      await expect(ofAcme().request({ ...wanted(), requester: 'Claude Code' })).rejects.toMatchObject({
        code: 'muted',
      })
    })
  })

  test('returns the note of a denial', async () => {
    const { request_id } = await gateway().request(wanted())
    dataOf(await decide(service, request_id, ada.key, { decision: 'deny', note: 'Not now' }))
    expect(await gateway().status(request_id)).toMatchObject({
      note: 'Not now',
      detail: `Denied: "Not now" (the approver's words)`,
    })
  })

  test('withdraws', async () => {
    const { request_id } = await gateway().request(wanted())
    await gateway().withdraw(request_id)
    expect(await gateway().status(request_id)).toMatchObject({ status: 'expired' })
    await expect(gateway().withdraw(request_id)).rejects.toMatchObject({ status: 410, code: 'expired' })
  })

  test('reaches only the requests of its own caller, even in the same organization', async () => {
    const theirs = dataOf(await ask(service, ada)).request_id
    const { request_id: mine } = await ofAcme().request(wanted())
    for (const attempt of [
      () => ofAcme().status(theirs),
      () => ofAcme().wait(theirs, 1),
      () => ofAcme().withdraw(theirs),
      () => gateway().status(mine),
      () => gateway().status('apr_unknown'),
    ])
      await expect(attempt()).rejects.toMatchObject({ status: 404, code: 'not_found' })
    expect(await ofAcme().status(mine)).toMatchObject({ status: 'pending' })
    expect(dataOf(await show(service, theirs)).status).toBe('pending')
  })

  test.each([
    ['an empty action', { action: '' }, 'action'],
    ['NUL in the action', { action: 'a\0' }, 'action'],
    ['half a character in the label', { requester: 'a\ud800' }, 'requester'],
    ['a phone that is none', { approvers: ['12'] }, 'approvers[0]'],
    ['too long a life', { lifetime_s: 3601 }, 'lifetime_s'],
  ])('refuses %s by the name of the field', async (_, more, field) => {
    await expect(gateway().request({ ...wanted(), ...more })).rejects.toMatchObject({
      status: 422,
      issues: [{ field }],
    })
    expect(service.notified).toEqual([])
  })

  test('applies the limits of each caller', async () => {
    for (let i = 0; i < 3; i++) await gateway().request(wanted())
    await expect(gateway().request(wanted())).rejects.toMatchObject({ code: 'too_many_pending' })
    await ofAcme().request(wanted())
  })
})

import { beforeEach, describe, expect, test } from 'vitest'
import { moveDevice } from '../devices/moves.ts'
import { createMember, dataOf, refusal } from '../fixtures.ts'
import { callTools, connect, listTools } from '../mcp/oauth-client.ts'
import { acme, ada, installHooks, service } from '../mcp/oauth-stage.ts'
import { signIn } from '../mcp/terminal-stage.ts'
import { addDevice } from './added-device.ts'
import { answerTo, createPhone, fromPhone, registerPhone, type Phone } from './phone.ts'

// Somebody has Ada's unlocked phone for a minute. They add a device with it, an agent, and another device with the first.

installHooks()

let tablet: Phone
let laptop: Phone
let agents: string[]

beforeEach(async () => {
  tablet = await addDevice(service, ada, 'Tablet')
  laptop = await addDevice(service, tablet, 'Laptop')
  agents = [await connect(service, ada), await connect(service, laptop)]
})

const path = (device: string) => `/svc/v1/organizations/${acme.id}/devices/${device}`
const names = (list: { name: string }[]) => list.map(({ name }) => name)
const read = async (device: string) => {
  const { devices, agents: found } = dataOf(
    await service.call('GET', `${path(device)}/added`, { key: acme.key }),
  )
  return [names(devices), names(found)]
}
const stateOf = async (): Promise<[string, string][]> =>
  dataOf(
    await service.call('GET', `/svc/v1/organizations/${acme.id}/users/${ada.user}/devices`, {
      key: acme.key,
    }),
  ).map(({ name, state }: { name: string; state: string }) => [name, state])
const agentWorks = async () =>
  Promise.all(agents.map(async (token) => (await callTools(service, token, listTools)).status === 200))

describe('what a device added', () => {
  test('that still works is no sign-in with the revoked device itself', async () => {
    await signIn(ada)
    const answer = dataOf(await service.call('DELETE', path(ada.device), { key: acme.key }))
    expect(names(answer.remaining.agents)).toEqual(['Coder', 'Coder 2'])
  })

  test('are the devices and agents that go back to it, and nothing of other people', async () => {
    const bob = await createPhone(service, acme.id, 2)
    await addDevice(service, bob, 'Watch')
    expect(await read(ada.device)).toEqual([
      ['Tablet', 'Laptop'],
      ['Coder', 'Coder 2'],
    ])
    expect(await read(tablet.device)).toEqual([['Laptop'], ['Coder 2']])
    expect(await read(laptop.device)).toEqual([[], ['Coder 2']])
  })

  test('goes on through a device that was removed', async () => {
    dataOf(await service.call('DELETE', path(tablet.device), { key: acme.key }))
    expect(await read(ada.device)).toEqual([['Laptop'], ['Coder', 'Coder 2']])
  })

  test('stays if the device is revoked without it, and the answer says so', async () => {
    const answer = dataOf(await service.call('DELETE', path(ada.device), { key: acme.key }))
    expect([names(answer.ended.devices), names(answer.remaining.devices)]).toEqual([[], ['Tablet', 'Laptop']])
    expect(names(answer.remaining.agents)).toEqual(['Coder', 'Coder 2'])
    expect(await agentWorks()).toEqual([true, true])
    // Afterwards, too, and once.
    const late = `${path(ada.device)}?with_added=true`
    expect(names(dataOf(await service.call('DELETE', late, { key: acme.key })).ended.devices)).toEqual([
      'Tablet',
      'Laptop',
    ])
    expect(await agentWorks()).toEqual([false, false])
    expect(refusal(await service.call('DELETE', late, { key: acme.key }))).toEqual([
      409,
      'device_revoked',
      [],
    ])
  })

  test('ends with the device if that is asked for', async () => {
    const answer = dataOf(
      await service.call('DELETE', `${path(ada.device)}?with_added=true`, { key: acme.key }),
    )
    expect(answer.ended).toMatchObject({
      devices: [
        { name: 'Tablet', user_id: ada.user, owner: 'Ada Lovelace' },
        { name: 'Laptop', user_id: ada.user },
      ],
      agents: [{ name: 'Coder' }, { name: 'Coder 2' }],
    })
    expect(answer.remaining).toMatchObject({ devices: [], agents: [] })
    expect(await stateOf()).toEqual([
      ['Pixel', 'revoked'],
      ['Tablet', 'revoked'],
      ['Laptop', 'revoked'],
    ])
    expect(await agentWorks()).toEqual([false, false])
  })

  test('ends only with a key that may end each kind; without it, nothing ends', async () => {
    const body = { name: 'helpdesk', org_id: acme.id, scopes: ['devices'] }
    const { key } = dataOf(await service.call('POST', '/svc/v1/keys', { body }))
    const refused = await service.call('DELETE', `${path(ada.device)}?with_added=true`, { key })
    expect(refusal(refused)).toEqual([403, 'scope_missing', []])
    expect(await stateOf()).toEqual([
      ['Pixel', 'active'],
      ['Tablet', 'active'],
      ['Laptop', 'active'],
    ])
    dataOf(await service.call('DELETE', path(ada.device), { key }))
  })
})

const remove = async (by: Phone, device: string, with_added?: boolean, signed = with_added) => {
  const { cookie } = by
  const move = 'remove'
  const begun = await fromPhone(service, 'POST', `devices/${device}/challenge`, {
    cookie,
    body: { move, ...(signed !== undefined && { with_added: signed }) },
  })
  const { challenge } = dataOf(begun)
  const body = {
    move,
    challenge,
    response: answerTo(challenge, by.key),
    ...(with_added !== undefined && { with_added }),
  }
  return fromPhone(service, 'POST', `devices/${device}/move`, { cookie, body })
}

describe('at the page', () => {
  test('each device of the person is listed with what it added, without the one that is signed in', async () => {
    const { added } = dataOf(await fromPhone(service, 'GET', 'devices', { cookie: tablet.cookie }))
    expect(
      added.map((one: { by: string; devices: { name: string }[]; agents: { name: string }[] }) => [
        one.by,
        names(one.devices),
        names(one.agents),
      ]),
    ).toEqual([
      [ada.device, [], ['Coder']],
      [tablet.device, ['Laptop'], ['Coder 2']],
      [laptop.device, [], ['Coder 2']],
    ])
  })

  test('a device is removed with what it added, but not with the device that signs', async () => {
    dataOf(await remove(laptop, ada.device, true))
    expect(await stateOf()).toEqual([
      ['Pixel', 'revoked'],
      ['Tablet', 'revoked'],
      ['Laptop', 'active'],
    ])
    expect(await agentWorks()).toEqual([false, true])
  })

  test('the signature covers whether what it added ends, too', async () => {
    expect(refusal(await remove(laptop, ada.device, true, false))).toEqual([410, 'challenge_over', []])
    dataOf(await remove(laptop, ada.device))
    expect(await agentWorks()).toEqual([true, true])
  })

  test('an administrator sees and ends what the lost phone of a member added', async () => {
    const admin = await createPhone(service, acme.id, 9, { role: 'admin' })
    const page = dataOf(
      await fromPhone(service, 'GET', `members/${ada.user}/devices`, { cookie: admin.cookie }),
    )
    expect(page.added[0]).toMatchObject({ by: ada.device, devices: [{ name: 'Tablet' }, { name: 'Laptop' }] })
    const answer = await moveDevice(service, admin, ada.device, 'remove')
    expect(answer.status).toBe(200)
    expect(await agentWorks()).toEqual([true, true])
  })
})

const keyOf = async (name: string, scopes: string[], key?: string) =>
  dataOf(await service.call('POST', '/svc/v1/keys', { key, body: { name, org_id: acme.id, scopes } })) as {
    id: string
    key: string
  }
const enrollWith = async (key: string, n: number): Promise<Phone> => {
  const user = await createMember(service, acme.id, n)
  const links = `/svc/v1/organizations/${acme.id}/users/${user.id}/enrollments`
  const { token } = dataOf(await service.call('POST', links, { key, body: {} }))
  return registerPhone(service, token, user)
}

describe('a key', () => {
  test('is shown with the devices, agents and administrators that go back to it, and what ends with it', async () => {
    const top = await keyOf('top', ['all'])
    const child = await keyOf('child', ['devices', 'people', 'ask'], top.key)
    const bob = await enrollWith(child.key, 2)
    const watch = await addDevice(service, bob, 'Watch')
    await connect(service, watch)
    dataOf(
      await service.call('POST', '/make-admin', {
        key: child.key,
        body: { org_id: acme.id, user_id: bob.user },
      }),
    )
    const links = `/svc/v1/organizations/${acme.id}/users/${bob.user}/enrollments`
    dataOf(await service.call('POST', links, { key: top.key, body: {} }))
    const asks = { action: 'Deploy', approvers: [ada.mobile] }
    dataOf(await service.call('POST', '/svc/v1/approvals', { key: child.key, body: asks }))
    const { added } = dataOf(await service.call('GET', `/svc/v1/keys/${top.id}`, { key: acme.key }))
    expect(added).toMatchObject({
      devices: [{ id: bob.device, name: 'Pixel', user_id: bob.user }, { name: 'Watch' }],
      agents: [{ name: 'Coder 3', user_id: bob.user }],
      administrators: [{ user_id: bob.user, owner: 'Ada Lovelace' }],
      pending_requests: 1,
      enrollment_links: 1,
      more: false,
    })
  })

  test('is revoked without them, and the answer says what remains', async () => {
    const top = await keyOf('top', ['all'])
    const bob = await enrollWith(top.key, 2)
    const answer = dataOf(await service.call('DELETE', `/svc/v1/keys/${top.id}`, { key: acme.key }))
    expect(answer.remaining.devices).toMatchObject([{ id: bob.device }])
    expect((await fromPhone(service, 'GET', 'devices', { cookie: bob.cookie })).status).toBe(200)
    const late = `/svc/v1/keys/${top.id}?with_added=true`
    expect(dataOf(await service.call('DELETE', late, { key: acme.key })).ended.devices).toHaveLength(1)
    expect(refusal(await service.call('DELETE', late, { key: acme.key }))).toEqual([409, 'key_revoked', []])
  })

  test('is revoked with them if that is asked for', async () => {
    const top = await keyOf('top', ['all'])
    const bob = await enrollWith(top.key, 2)
    await addDevice(service, bob, 'Watch')
    const target = `/svc/v1/keys/${top.id}?with_added=true`
    const weak = await keyOf('weak', ['keys'])
    expect(refusal(await service.call('DELETE', target, { key: weak.key }))).toEqual([
      403,
      'scope_missing',
      [],
    ])
    const { ended } = dataOf(await service.call('DELETE', target, { key: acme.key }))
    expect(names(ended.devices)).toEqual(['Pixel', 'Watch'])
    expect((await fromPhone(service, 'GET', 'devices', { cookie: bob.cookie })).status).toBe(401)
  })
})

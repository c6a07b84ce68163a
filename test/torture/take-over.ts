import { join } from 'node:path'
import { createSoftwareKey, register } from '../../src/client/software-authenticator.ts'
import { planRequest } from '../../src/client/request.ts'
import { grants, scopes, scopesOf, type Scope } from '../../src/contract/scopes.ts'
import { table, type OperationId } from '../../src/contract/table.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { createMember, dataOf } from '../service/fixtures.ts'
import { startTestService, type Answer, type TestService } from '../service/harness.ts'
import { settle, type Holding } from '../service/tenant-holding.ts'
import { inputs } from '../service/tenant-inputs.ts'
import { ids, isForOperators } from '../service/tenant-operations.ts'
import { setsOf } from './scope-sets.ts'
import type { Result, Torture } from './torture.ts'

// A person with a key that lacks `devices` tries to get a device for somebody else of the organization. They know all
// IDs and phone numbers, read every response, and read the messages to their own address and number.

const attacker = { email: 'mallory@evil.example', mobile: '+12025550666' }

type Scene = { acme: Holding; victims: string[]; stronger: string[] }
type Loot = {
  keys: Set<string>
  tokens: Set<string>
  /** Registered devices with their states. */
  devices: string[]
  tried: Record<string, number>
}

const call = (service: TestService, id: OperationId, input: object, key: string): Promise<Answer> => {
  const { method, url, body } = planRequest('http://x', table[id], input as Record<string, unknown>)
  const { pathname, search } = new URL(url)
  return service.call(method, pathname + search, { key, body })
}

/** Steps against the victim. A key is refused what it may not call, and the rest happens. */
const steps = ({ acme, victims, stronger }: Scene, held: readonly Scope[]): [OperationId, object][] => {
  const { org } = acme
  const [, fresh] = victims
  const every = victims.flatMap((user_id): [OperationId, object][] => [
    ['createEnrollment', { org_id: org, user_id }],
    ['updateUser', { orgId: org, userId: user_id, email: attacker.email }],
    ['updateUser', { orgId: org, userId: user_id, mobile: attacker.mobile.slice(2), country_code: '+1' }],
    ['makeAdmin', { org_id: org, user_id }],
    ['generateAuthToken', { org_id: org, user_id }],
    ['holdUser', { org_id: org, user_id }],
    ['acceptUser', { org_id: org, user_id }],
  ])
  const again = { first_name: 'Ada', last_name: 'L', email: attacker.email, country_code: '+1' }
  return [
    ['updateOrganization', { org_id: org, policy: { device_proof: 'link', recovery_delay_s: 0 } }],
    ...grants.map((grant): [OperationId, object] => [
      'createKey',
      { name: `as ${grant}`, org_id: org, scopes: [grant] },
    ]),
    ['createKey', { name: 'all that it has, and devices', org_id: org, scopes: [...held, 'devices'] }],
    ['createKey', { name: 'without an organization', scopes: ['devices'] }],
    ...stronger.map((id): [OperationId, object] => ['rotateKey', { id, overlap_s: 0 }]),
    ...every,
    // The same number again, as a person who never had a device.
    ['deleteUser', { orgId: org, userId: fresh }],
    ['createUser', { orgId: org, ...again, mobile: acme.sender.slice(2) }],
    ['registerMobileUser', { ...again, mobile: acme.mobile.slice(2) }],
    ['sendOtp', { mobile: acme.mobile }],
    ['removeUser', { org_id: org, user_id: acme.user }],
    ['createUser', { orgId: org, ...again, mobile: acme.mobile.slice(2) }],
  ]
}

/** Records each key and each enrollment link in a response or a message. */
const search = (text: string, { keys, tokens }: Loot): void => {
  for (const [key] of text.matchAll(/svc_(?:op|srv|org)_[0-9a-f]{8}_[\w-]{43}/g)) keys.add(key)
  for (const [, token] of text.matchAll(/#enroll=([\w-]+)/g)) tokens.add(token!)
  for (const [, token] of text.matchAll(/"token":"([\w-]+)"/g)) tokens.add(token!)
}

const attack = async (
  service: TestService,
  scene: Scene,
  key: string,
  held: readonly Scope[],
  loot: Loot,
) => {
  const send = async (id: OperationId, input: object): Promise<void> => {
    const { status, body } = await call(service, id, input, key)
    const how = status < 300 ? 'done' : status === 403 ? 'forbidden' : 'refused'
    loot.tried[how] = (loot.tried[how] ?? 0) + 1
    search(JSON.stringify(body ?? ''), loot)
    // First, because a later step may end it.
    await useTokens(service, loot)
  }
  for (const [id, input] of steps(scene, held)) await send(id, input)
  await readMessages(service, loot)
  const { acme } = scene
  // Then every other allowed operation, deletions last.
  const rest = ids.filter((id) => id !== 'deleteOrganization' && !isForOperators(id))
  for (const id of rest.toSorted((a, b) => order(a) - order(b))) await send(id, inputs[id](acme, acme))
}

const order = (id: OperationId): number => (['revokeKey', 'deleteUser', 'removeUser'].includes(id) ? 1 : 0)

/** Registers a key file with each enrollment link that was found. It is for the person of the link. */
const useTokens = async (service: TestService, { tokens, devices }: Loot): Promise<void> => {
  for (const token of tokens) {
    tokens.delete(token)
    const headers = { 'sec-fetch-site': 'same-origin' }
    const begun = await service.call('POST', '/svc/v1/approver/enrollment', {
      key: null,
      headers,
      body: { token },
    })
    if (begun.status !== 200) continue
    const { challenge, rp_id, user_handle } = begun.body.data
    const own = createSoftwareKey('ES256', { rpId: rp_id, userHandle: user_handle })
    const body = {
      token,
      name: 'Mine',
      response: register(own, { challenge, origin: 'http://localhost:8080', rpId: rp_id }),
    }
    const { status, body: made } = await service.call('POST', '/svc/v1/devices', { key: null, body })
    if (status === 200) devices.push(`device ${made.data.id} (${made.data.state})`)
  }
}

/** The messages to the attacker's own address or number. */
const readMessages = async (service: TestService, loot: Loot): Promise<void> => {
  for (const message of await service.messages())
    if ([attacker.email, attacker.mobile].includes(message.to)) search(JSON.stringify(message), loot)
  await useTokens(service, loot)
}

/** One attack on a new copy of the organization. Returns the devices and links that it got. */
const round = async (from: string, scene: Scene, set: Scope[], tried: Loot['tried']): Promise<string[]> => {
  const service = await startTestService({ from, dev: true })
  try {
    const loot: Loot = { keys: new Set(), tokens: new Set(), devices: [], tried }
    const body = { name: 'mallory', org_id: scene.acme.org, scopes: set }
    const { key } = dataOf(await service.call('POST', '/svc/v1/keys', { body }))
    await attack(service, scene, key, set, loot)
    // A second key that the first one created, or whose secret it saw.
    for (const other of [...loot.keys].slice(0, 12)) {
      const { body: whoami } = await service.call('GET', '/svc/v1/whoami', { key: other })
      const held: Scope[] = whoami.data?.scopes ?? []
      if (held.includes('devices')) return [`${set.join()}: a key with ${held.join()}`]
      if (held.length > 0) await attack(service, scene, other, held, loot)
    }
    await readMessages(service, loot)
    return loot.devices.map((device) => `${set.join()}: ${device}`)
  } finally {
    await service.close()
  }
}

const prepare = async (path: string): Promise<Scene> => {
  const service = await startTestService({ dev: true })
  const acme = await settle(service, 'acme', 10)
  const fresh = await createMember(service, acme.org, 40)
  const listed = dataOf(await service.call('GET', '/svc/v1/keys')) as { id: string }[]
  await service.close(path)
  return {
    acme: { ...acme, sender: fresh.mobile_e164 },
    victims: [acme.user, fresh.id, acme.waiting],
    stronger: listed.map(({ id }) => id),
  }
}

export const torture: Torture = {
  name: 'Enrollment: keys with any set of scopes without devices try to get a device for somebody else',
  must: '0 devices, 0 keys with the scope devices',
  run: async (): Promise<Result> => {
    const folder = temporaryFolder()
    try {
      const store = join(folder.path, 'kept.db')
      const scene = await prepare(store)
      const tried: Loot['tried'] = {}
      const sets = setsOf(scopes.filter((scope) => scope !== 'devices'))
      const found: string[] = []
      for (const set of sets) found.push(...(await round(store, scene, set, tried)))
      // Broken: the key has `devices`.
      let control = 0
      for (const scope of scopes)
        control += (await round(store, scene, scopesOf([scope, 'devices']), {})).length
      return { count: sets.length, failures: found.length, hits: tried, control, examples: found.slice(0, 5) }
    } finally {
      folder.remove()
    }
  },
}

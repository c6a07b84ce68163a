import { randomBytes } from 'node:crypto'
import type { Caller } from '../../src/service/call/caller.ts'
import { insertDeviceRow } from '../../src/service/devices/rows.ts'
import { allScopes } from '../service/all-scopes.ts'
import { createTenant, dataOf } from '../service/fixtures.ts'
import type { TestService } from '../service/harness.ts'

export type Crowd = {
  org: number
  key: string
  caller: Caller
  mobiles: string[]
}

let organizations = 0

/** An organization of people with devices that receive requests but sign nothing, for tests that are not about signatures. */
export const createCrowd = async (service: TestService, size: number): Promise<Crowd> => {
  const { id: org, key } = await createTenant(service, `crowd-${organizations++}`)
  const mobiles: string[] = []
  for (let i = 0; i < size; i++) {
    const body = { email: `u${i}@a.example`, country_code: '+1', first_name: 'U', last_name: String(i) }
    const mobile = `20255${String(10_000 + i)}`
    const user = dataOf(
      await service.call('POST', `/organization/${org}/create/user`, { body: { ...body, mobile } }),
    )
    const { storage, keyring } = service
    const device = {
      org_id: org,
      user_id: Number(user.id),
      name: 'mute',
      kind: 'software',
      credential_id: randomBytes(16).toString('base64url'),
      public_key: 'AA',
      algorithm: -7,
      user_handle: 'AA',
      counter: 0,
      state: 'active',
      proof: 'link',
      registered_at: storage.now(),
    } as const
    await storage.write((db) => insertDeviceRow({ db, keyring }, device), { org: 0 })
    mobiles.push(user.mobile_e164)
  }
  const keys = dataOf(await service.call('GET', `/svc/v1/keys?org_id=${org}`))
  return { org, key, caller: { keyId: keys[0].id, name: 'crowd', orgId: org, scopes: allScopes }, mobiles }
}

/** Yields to the event loop this many times: a random offset without a timer. */
export const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
}

export const below = (limit: number): number => Math.floor(Math.random() * limit)

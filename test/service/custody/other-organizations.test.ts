import { beforeEach, describe, expect, test } from 'vitest'
import { assert } from '../../../src/client/software-authenticator.ts'
import { authenticKey, within } from '../../../src/service/keys/ancestry.ts'
import { findRoots } from '../../../src/service/devices/origin.ts'
import { createChallenge } from '../../../src/service/page/challenge.ts'
import { proveDevice } from '../../../src/service/page/proof.ts'
import { acme, ada, installHooks, service } from '../acme-with-ada.ts'
import { type Approver, createApprover } from '../approver.ts'
import { createTenant, dataOf } from '../fixtures.ts'
import { site } from '../page/phone.ts'

// Whoever owns the tables and has a key of another organization can give a row there the id of one here.

installHooks()

let beta: Awaited<ReturnType<typeof createTenant>>
let bob: Approver
beforeEach(async () => {
  beta = await createTenant(service, 'beta')
  bob = await createApprover(service, beta.id, 9)
})

const inOrganization = <T>(org: number, read: (deps: ReturnType<typeof within>) => Promise<T>): Promise<T> =>
  service.storage.read((db) => read(within({ db, keyring: service.keyring }, org)))

describe('a row of another organization', () => {
  test('is no key of this one', async () => {
    const body = { name: 'app', org_id: beta.id, scopes: ['ask'] }
    const id = Number(dataOf(await service.call('POST', '/svc/v1/keys', { body })).id)
    expect(await inOrganization(beta.id, (deps) => authenticKey(deps, id))).toMatchObject({ id })
    expect(await inOrganization(acme.id, (deps) => authenticKey(deps, id))).toBeUndefined()
  })

  test('is no device of this one', async () => {
    const device = Number(bob.device)
    expect(await inOrganization(beta.id, (deps) => findRoots(deps, { device }))).toHaveLength(1)
    expect(await inOrganization(acme.id, (deps) => findRoots(deps, { device }))).toBeUndefined()
  })

  test('does not sign for a session of this one', async () => {
    const device_id = Number(bob.device)
    const proveIn = (org_id: number, user_id: string) => {
      const question = { org_id, user_id: Number(user_id), device_id, type: 'device-link' } as const
      const { keyring, storage } = service
      const { challenge } = createChallenge({ keyring, now: storage.now() }, question)
      const response = assert(bob.key, { challenge, ...site })
      return proveDevice(service.service, { challenge, response }, question)
    }
    expect((await proveIn(beta.id, bob.id)).device.id).toBe(device_id)
    await expect(proveIn(acme.id, ada.id)).rejects.toMatchObject({ code: 'device_not_registered' })
  })
})

import { describe, expect, test } from 'vitest'
import { dataOf } from '../fixtures.ts'
import { acme, installHooks, service } from './oauth-stage.ts'
import { createAdministrator, signIn, whoIs } from './terminal-stage.ts'

installHooks()

const addCode = (key: string, label: string) =>
  service.call('POST', `/organization/${acme.id}/create/auth-code`, { key, body: { label } })

const actors = async (actor: string): Promise<string[]> => {
  const path = `/svc/v1/audit?org_id=${acme.id}&limit=50&actor=${encodeURIComponent(actor)}`
  return dataOf(await service.call('GET', path)).map((row: { actor: string }) => row.actor)
}

describe('the audit', () => {
  test('names the person who is signed in on a terminal, and finds them by that or by the key', async () => {
    const grace = await createAdministrator(2)
    const { management_token } = await signIn(grace)
    dataOf(await addCode(management_token!, 'Berlin'))
    const { id, name } = dataOf(await whoIs(management_token!))
    const here = `user:${grace.user} (key ${id})`
    const found = await actors(`user:${grace.user}`)
    expect(found).toContain(here)
    expect(found).toContain(`user:${grace.user}`)
    expect(
      found.filter((one) => one !== `user:${grace.user}` && !one.startsWith(`user:${grace.user} (`)),
    ).toEqual([])
    expect(await actors(name)).toEqual([here])
    expect(await actors(here)).toEqual([here])
    expect(await actors(`user:${grace.user}0`)).toEqual([])
  })

  test('takes no key for a person, whatever its name', async () => {
    const body = { name: 'user:1', scopes: ['people'], org_id: acme.id }
    const { key, id } = dataOf(await service.call('POST', '/svc/v1/keys', { body }))
    dataOf(await addCode(key, 'Bonn'))
    expect(await actors('user:1')).toEqual(expect.not.arrayContaining([expect.stringContaining('key')]))
    expect(await actors(`"user:1" (key ${id})`)).toEqual([`"user:1" (key ${id})`])
  })
})

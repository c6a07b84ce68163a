import { describe, expect, test } from 'vitest'
import { acme, installHooks, service } from '../acme.ts'
import { createMember, createTenant, dataOf, refusal, slot } from '../fixtures.ts'

installHooks()

const home = { name: 'Home', latitude: 1, longitude: 2, radius: 3, enabled: true }
const nights = { ...slot, name: 'Nights', is_active: 1 }
const rules = (query = '', key?: string) =>
  service.call('GET', `/svc/v1/organizations/${acme.id}/user-rules${query}`, { ...(key && { key }) })
const give = (user: number, what: 'geofences' | 'timeslots', rows: object[], org = acme.id) =>
  service.call('PUT', `/user/${user}/${what}/update`, { body: { org_id: org, [what]: rows } })

describe('the rules of users', () => {
  test('are listed for each user that has some, and for no other', async () => {
    const ada = await createMember(service, acme.id, 1)
    await createMember(service, acme.id, 2)
    const eve = await createMember(service, acme.id, 3)
    await give(ada.id, 'geofences', [home, { ...home, name: 'Office', enabled: false }])
    await give(eve.id, 'timeslots', [nights])
    expect(dataOf(await rules())).toEqual([
      { user_id: ada.id, geofences: [home, { ...home, name: 'Office', enabled: false }], timeslots: [] },
      { user_id: eve.id, geofences: [], timeslots: [nights] },
    ])
  })

  test('come in pages, none left out and none twice', async () => {
    for (let n = 1; n <= 5; n++) {
      const { id } = await createMember(service, acme.id, n)
      await give(id, n % 2 ? 'geofences' : 'timeslots', [n % 2 ? home : nights])
    }
    const whole = dataOf(await rules())
    const pages: unknown[] = []
    let query = '?limit=2'
    while (query) {
      const answer = await rules(query)
      pages.push(...dataOf(answer))
      query = /\?[^>]*/.exec(answer.headers.link ?? '')?.[0] ?? ''
    }
    expect(whole).toHaveLength(5)
    expect(pages).toEqual(whole)
  })

  test('leave out removed users and rules of other organizations', async () => {
    const globex = await createTenant(service, 'globex')
    const gone = await createMember(service, acme.id, 1)
    await give(gone.id, 'geofences', [home])
    await service.call('POST', '/organization/remove/user', { body: { org_id: acme.id, user_id: gone.id } })
    const both = await createMember(service, acme.id, 2)
    await createMember(service, globex.id, 2)
    await give(both.id, 'geofences', [home], globex.id)
    expect(dataOf(await rules())).toEqual([])
    expect(refusal(await rules('', globex.key))[0]).toBe(404)
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
  const post = (path: string, body: object) => stage.service.call('POST', `/organization/1/${path}`, { body })
  const person = (country_code: string, mobile: string, first_name: string, last_name: string) =>
    post('create/user', { country_code, mobile, first_name, last_name, email: 'a@b.cc' })
  await person('+1', '2025550101', '=cmd()', `'+1`)
  await person('+49', '15112345678', '-', '@"quoted", ;')
  await person('+39', '0612345678', 'Zo\u00eb \u{1f600}', `O'Neil`)
  const fence = (name: string, latitude: number, is_active: number) =>
    post('create/geo-fence', { name, latitude, longitude: 13.405, radius: 150, is_active })
  await fence('+HQ', -52.52, 1)
  await fence('12', 52.5, 0)
  const slot = (name: string, days: string[], start: string) =>
    post('timeslots/add', { name, days, start, end: '17:00', timezone: 'Europe/Berlin' })
  await slot('Office', ['mon', 'tue', 'fri'], '09:00')
  await slot('Weekend', ['sat', 'sun'], '22:00')
})
afterAll(() => stage.close())

const kinds = [
  ['user', 'csv'],
  ['user', 'ndjson'],
  ['user', 'json'],
  ['geofence', 'csv'],
  ['geofence', 'json'],
  ['geofence', 'geojson'],
  ['geofence', 'ndjson'],
  ['timeslot', 'csv'],
  ['timeslot', 'ndjson'],
] as const
const counts: Record<string, number> = { user: 3, geofence: 2, timeslot: 2 }
const sorted = (text: string): string[] => text.split(/,?\n/).toSorted()
const nothing = { created: 0, updated: 0, skipped: 0, failed: 0 }

describe('a file exported', () => {
  test.each(kinds)('by svc %s export, %s, imports again without a change', async (group, format) => {
    const { out } = await stage.svc([group, 'export', '--org', 'acme', '--format', format])
    const again = await stage.svc(
      [group, 'import', '-', '--org', 'acme', '--on-conflict', 'update', '-o', 'json', '--results', 'r'],
      { stdin: out },
    )
    expect(JSON.parse(again.out)).toEqual({ ...nothing, skipped: counts[group], results: 'r' })
    expect((await stage.svc([group, 'export', '--org', 'acme', '--format', format])).out).toBe(out)
  })

  test.each(kinds)(
    'by svc %s export, %s, imports into another organization with the same content',
    async (group, format) => {
      const { body } = await stage.service.call('POST', '/organization/create', {
        body: { name: `${group} ${format}` },
      })
      const org = String(body.data.id)
      const file = `${group}.${format}`
      await stage.svc([group, 'export', file, '--org', 'acme'])
      const { exit } = await stage.svc([group, 'import', file, '--org', org])
      expect(exit).toBe(0)
      const { out } = await stage.svc([group, 'export', '--org', org, '--format', format])
      expect(sorted(out)).toEqual(sorted(stage.text(file)))
    },
  )
})

describe('svc export', () => {
  test('prevents formulas in a spreadsheet, and keeps phone numbers', async () => {
    const { out } = await stage.svc(['user', 'export', '--org', 'acme'])
    expect(out.split('\n').slice(0, 3)).toEqual([
      'mobile,country_code,email,first_name,last_name,role',
      `+12025550101,+1,a@b.cc,'=cmd(),''+1,member`,
      `+4915112345678,+49,a@b.cc,'-,"'@""quoted"", ;",member`,
    ])
  })

  test('writes a private file, completely or not at all, and prints the count', async () => {
    stage.put('fences.geojson', 'old')
    const { exit, out } = await stage.svc([
      'geofence',
      'export',
      'fences.geojson',
      '--org',
      'acme',
      '--yes',
      '-o',
      'json',
    ])
    expect([exit, JSON.parse(out)]).toEqual([0, { exported: 2, format: 'geojson', file: 'fences.geojson' }])
    expect(stage.mode('fences.geojson')).toBe('600')
    expect(JSON.parse(stage.text('fences.geojson'))).toEqual({
      type: 'FeatureCollection',
      features: [
        {
          type: 'Feature',
          geometry: { type: 'Point', coordinates: [13.405, -52.52] },
          properties: { name: '+HQ', radius: 150, is_active: 1 },
        },
        expect.objectContaining({ properties: { name: '12', radius: 150, is_active: 0 } }),
      ],
    })
    const again = ['geofence', 'export', 'fences.geojson', '--org', '99', '--yes']
    expect((await stage.svc(again)).exit).toBe(5)
    expect(stage.text('fences.geojson')).toContain('+HQ')
  })

  test('replaces a file only with a flag', async () => {
    const file = ['user', 'export', 'kept.csv', '--org', 'acme']
    stage.put('kept.csv', 'the only copy\n')
    const refused = await stage.svc(file)
    expect([refused.exit, refused.err]).toEqual([2, expect.stringContaining('kept.csv already exists')])
    expect(refused.err).toContain('svc user export kept.csv --org acme --yes')
    expect(stage.text('kept.csv')).toBe('the only copy\n')
    expect((await stage.svc([...file, '--yes'])).exit).toBe(0)
    expect(stage.text('kept.csv')).toContain('+12025550101')
  })

  test('leaves out pending and rejected users, because an import would activate them', async () => {
    const [first] = await stage.list('users')
    await stage.service.call('POST', `/organization/1/user/${String(first!['id'])}/pending`)
    const { out } = await stage.svc(['user', 'export', '--org', 'acme', '--format', 'ndjson'])
    expect(out.trimEnd().split('\n')).toHaveLength(2)
    expect(out).not.toContain('+12025550101')
  })
})

describe('an import of objects that are known by name', () => {
  const csv = 'name,latitude,longitude,radius,is_active\n+HQ,-52.52,13.405,150,1\n12,1,2,3,TRUE\nNew,1,2,3,\n'
  const imports = async (mode: string) => {
    stage.put('f.csv', csv)
    const { exit, out } = await stage.svc([
      'geofence',
      'import',
      'f.csv',
      '--org',
      '1',
      '-o',
      'json',
      '--on-conflict',
      mode,
    ])
    const { results: _, ...rest } = JSON.parse(out) as Record<string, unknown>
    return { exit, ...rest }
  }

  test('fails, skips or updates existing names', async () => {
    expect(await imports('fail')).toEqual({ exit: 10, ...nothing, created: 1, failed: 2 })
    expect(await imports('skip')).toEqual({ exit: 0, ...nothing, skipped: 3 })
    expect(await imports('update')).toEqual({ exit: 0, ...nothing, updated: 1, skipped: 2 })
    expect(await stage.list('geo-fences')).toMatchObject([
      { name: '+HQ' },
      { name: '12', latitude: 1, radius: 3, is_active: 1 },
      { name: 'New', is_active: 1 },
    ])
  })

  test('changes nothing if two objects have the name', async () => {
    const body = { name: 'New', latitude: 9, longitude: 9, radius: 9, is_active: 1 }
    await stage.service.call('POST', '/organization/1/create/geo-fence', { body })
    expect(await imports('update')).toEqual({ exit: 10, ...nothing, skipped: 2, failed: 1 })
  })

  test('accepts days as people write them', async () => {
    stage.put(
      's.csv',
      'name,days,from,to,tz\nWeek,Monday-fri,08:00,18:00,UTC\nTurn,sat-mon,08:00,18:00,UTC\nTwo,"fri; tue",08:00,18:00,UTC\n',
    )
    expect((await stage.svc(['timeslot', 'import', 's.csv', '--org', '2'])).exit).toBe(0)
    const days = Object.fromEntries(
      (await stage.list('timeslots', 2)).map((slot) => [slot['name'], slot['days']]),
    )
    expect(days).toEqual({
      Week: ['mon', 'tue', 'wed', 'thu', 'fri'],
      Turn: ['mon', 'sat', 'sun'],
      Two: ['tue', 'fri'],
    })
  })
})

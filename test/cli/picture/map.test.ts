import { describe, expect, test } from 'vitest'
import { json } from '../../fake-hosted.ts'
import { installHooks, run, service } from '../other-service.ts'

installHooks()

const fence = (name: string, latitude: number, longitude: number, radius: number, is_active = 1) => ({
  name,
  latitude,
  longitude,
  radius,
  is_active,
})
const berlin = [fence('HQ', 52.52, 13.405, 150), fence('Lab', 52.5205, 13.411, 90, 0)]
const hostile = [...berlin, fence('a\u001b[2J<b>\u202e', 52.5195, 13.402, 40)]
const map = (rows: unknown[] = hostile, args: string[] = [], tty = false) => {
  service.always(json(200, { status: 'success', message: 'OK', data: rows }))
  return run(['geofence', 'map', '--org', '1', ...args], { tty })
}
const ellipses = (page: string): number[][] =>
  [...page.matchAll(/cx="([\d.]+)" cy="([\d.]+)" rx="([\d.]+)" ry="([\d.]+)"/g)].map((found) =>
    found.slice(1).map(Number),
  )

describe('svc geofence map', () => {
  test('draws each fence with its number, and lists it', async () => {
    const { exit, out } = await map()
    expect(exit).toBe(0)
    expect(out.match(/<text class="mark"/g)).toHaveLength(3)
    expect(out.match(/class="fence off"/g)).toHaveLength(1)
    expect(out).toContain(
      '<tr><td>2</td><td>Lab</td><td>organization</td><td>90 m</td><td>52.52050, 13.41100</td><td>no</td></tr>',
    )
    const [hq, lab] = ellipses(out)
    // North is up and east is right; both are true to scale.
    expect([lab![0]! > hq![0]!, lab![1]! < hq![1]!]).toEqual([true, true])
    expect(hq![2]! / hq![3]!).toBeCloseTo(1, 2)
    expect((lab![0]! - hq![0]!) / hq![3]!).toBeCloseTo(407 / 150, 1)
  })

  test('shows the fences of the organization and of the user for a user, marked apart', async () => {
    const { out } = await map(hostile, ['--user', '7'])
    expect(service.seen.map(({ path }) => path).sort()).toEqual([
      '/admin/public/api/organization/1/geo-fences',
      '/admin/public/api/user/7/geofences?org_id=1',
    ])
    expect(out.match(/<td>organization<\/td>/g)).toHaveLength(3)
    expect(out.match(/<td>user<\/td>/g)).toHaveLength(3)
    expect(out).toContain('<h1>Geofences of user 7 in 1</h1>')
  })

  test('says how many rows have no location', async () => {
    const { out, err } = await map([{ name: 'x' }, { ...berlin[0], radius: '1' }])
    expect(out).toContain('No geofences.')
    expect(out).not.toContain('<svg')
    expect(err).toBe('Not shown: 2 without a location or a radius\n')
  })

  test('prints no page on a terminal, and says what to type', async () => {
    const { exit, out, err } = await map(hostile, [], true)
    expect([exit, out]).toEqual([2, ''])
    expect(err).toContain('svc geofence map --org 1 > page.html')
    expect(service.seen).toEqual([])
  })

  test('escapes text of a server', async () => {
    const { out } = await map()
    expect(out).toContain('<td>a\\u{001b}[2J&lt;b&gt;\\u{202e}</td>')
    expect(out).not.toMatch(/<b>|[^\P{Cc}\n]|\p{Cf}/u)
  })

  test('loads nothing and allows only its own style', async () => {
    const { out } = await map()
    expect(out).toMatch(/default-src 'none'; style-src 'sha256-[\w+/]{43}='; base-uri 'none'/)
    expect(out).not.toMatch(/https?:|url\(|<script|<link|<img| style=| on\w+=/)
  })

  test.each([
    ['across the date line', fence('Fiji', -17.7, 179.9, 20_000), fence('East', -17.7, -179.7, 8_000)],
    ['near a pole', fence('Pole', 90, 0, 50_000), fence('Far', 89, 0, 20_000)],
  ])('draws fences side by side %s', async (_, ...rows) => {
    const { out } = await map(rows)
    expect(out).not.toContain('NaN')
    const [first, second] = ellipses(out)
    const between = Math.hypot(first![0]! - second![0]!, first![1]! - second![1]!)
    expect(between).toBeGreaterThan(50)
    for (const [x, y] of [first!, second!]) expect(x! > 0 && x! < 960 && y! > 0 && y! < 620).toBe(true)
  })
})

import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { markFences, readFences } from '../../../src/cli/picture/fences.ts'
import type { CheckedPoint } from '../../../src/cli/picture/projection.ts'
import { mapPage } from '../../../src/cli/picture/map-page.ts'
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
const point = { latitude: 52.5195, longitude: 13.4045, accuracy: 0 }

const hostile = [...berlin, fence('a\u001b[2J<b>\u202e', 52.5195, 13.402, 40)]
const map = (args: string[], rows: unknown[] = hostile, tty = false) => {
  service.always(json(200, { status: 'success', message: 'OK', data: rows }))
  return run(['geofence', 'map', '--org', '1', ...args], { tty })
}

describe('svc geofence map', () => {
  test('lists every fence with its distance from the location, and prints the verdict', async () => {
    const { exit, out, err } = await map(['--latitude', '52.5195', '--longitude', '13.4045'], hostile, true)
    expect(exit).toBe(0)
    const plain = stripVTControlCharacters(out)
    expect(plain).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u)
    expect(plain).toMatch(/^organization +Lab +52\.5205 +13\.411 +90 +0 +456$/m)
    expect(plain).toContain('a\\u{001b}[2J<b>\\u{202e}')
    expect(err).toContain('52.51950, 13.40450 would pass: 66 m from HQ (radius 150 m, accuracy 0 m)')
  })
  test('shows the fences of the organization and of the user for a user, marked apart', async () => {
    const { out } = await map(['--user', '7', '-o', 'json'])
    expect(service.seen.map(({ path }) => path).sort()).toEqual([
      '/admin/public/api/organization/1/geo-fences',
      '/admin/public/api/user/7/geofences?org_id=1',
    ])
    expect(JSON.parse(out).map((row: { of: string }) => row.of)).toEqual([
      ...Array(3).fill('organization'),
      ...Array(3).fill('user'),
    ])
  })
  test('names --html if its file cannot be written', async () => {
    const { exit, err } = await map(['--html', 'nowhere/x'])
    expect(exit).toBe(2)
    expect(err).toContain('--html: cannot write')
  })
  test('says how many rows have no location', async () => {
    const { out, err } = await map([], [{ name: 'x' }, { ...berlin[0], radius: '1' }])
    expect(out).toBe('')
    expect(err).toBe('Not shown: 2 without a location or a radius\n')
  })
  test.each([
    [['--latitude', '1'], '--latitude and --longitude'],
    [['--latitude', '91', '--longitude', '0'], '--latitude must be -90 to 90'],
    [['--latitude', '1', '--longitude', 'east'], '--longitude must be a number'],
    [['--latitude', '1', '--longitude', '2', '--accuracy', '-1'], '--accuracy'],
  ])('rejects %j', async (args, message) => {
    const { exit, err } = await map(args)
    expect(exit).toBe(2)
    expect(err).toContain(message)
  })
})

const page = (rows = hostile, at?: CheckedPoint): string =>
  mapPage({
    title: 'Geofences of <acme>',
    fences: markFences(readFences(rows, 'organization'), at),
    point: at,
    verdict: 'would "pass"',
  })

describe('the HTML page', () => {
  test('escapes text of a server', () => {
    expect(page()).toContain('<td class="name">a\\u{001b}[2J&lt;b&gt;\\u{202e}</td>')
    expect(page()).toContain('<title>Geofences of &lt;acme&gt;</title>')
    expect(page()).not.toMatch(/<b>|<acme>|[^\P{Cc}\n]|\p{Cf}/u)
  })
  test('loads nothing and allows only its own style', () => {
    expect(page()).toMatch(/default-src 'none'; style-src 'sha256-[\w+/]{43}='; base-uri 'none'/)
    expect(page()).not.toMatch(/https?:|url\(|<script|<link|<img| style=| on\w+=/)
  })
  test('crosses the date line and surrounds a pole', () => {
    for (const rows of [
      [fence('Fiji', -17.7, 179.9, 20_000), fence('East', -17.7, -179.7, 8_000)],
      [fence('Pole', 90, 0, 50_000), fence('Far', 89, 0, 20_000)],
    ]) {
      const [first, second] = [...page(rows).matchAll(/class="mark" x="([\d.]+)" y="([\d.]+)"/g)]
      const between = Math.hypot(
        Number(first![1]) - Number(second![1]),
        Number(first![2]) - Number(second![2]),
      )
      expect(between).toBeGreaterThan(200)
      expect(page(rows)).not.toContain('NaN')
    }
  })
  test('separates letters, and leaves out the ones that have no room', () => {
    const many = Array.from({ length: 30 }, (_, i) => fence(`F${i}`, 52.52, 13.405, 1))
    const letters = page([...many, fence('Big', 52.6, 13.405, 5000)]).match(/<text class="mark/g)!
    expect(letters.length).toBeGreaterThan(2)
    expect(letters.length).toBeLessThan(21)
  })
  test('shows each fence, or says that there is none', () => {
    expect(page().match(/<text class="mark/g)).toHaveLength(3)
    expect(page([], point)).toContain('No geofences.')
    expect(page([])).not.toContain('<svg')
    expect(page(hostile, point)).toContain('class="here"')
    expect(page(hostile, point)).not.toContain('NaN')
  })
})

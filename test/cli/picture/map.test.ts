import { describe, expect, test } from 'vitest'
import { markFences, readFences } from '../../../src/cli/picture/fences.ts'
import type { CheckedPoint } from '../../../src/cli/picture/projection.ts'
import { drawMap } from '../../../src/cli/picture/map-drawing.ts'
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
const plain = (text: string): string => text
const colors = { active: plain, inactive: plain, point: plain }
const drawn = (rows: ReturnType<typeof fence>[], point?: CheckedPoint, width = 42) =>
  drawMap(markFences(readFences(rows, 'organization'), point), point, { width, colors })

const berlin = [fence('HQ', 52.52, 13.405, 150), fence('Lab', 52.5205, 13.411, 90, 0)]
const point = { latitude: 52.5195, longitude: 13.4045, accuracy: 0 }

describe('a map', () => {
  test('shows fences round and to scale, inactive ones dotted with small letters, and the point as @', () => {
    expect(drawn(berlin, point).lines).toEqual([
      '┌────────────────────────────────── N ^ ─┐',
      '│                                        │',
      '│     ⢀⡠⠤⠒⠒⠒⠒⠢⠤⣄               ⠠ ⠐ ⠄⢀    │',
      '│   ⢀⡴⠋         ⠑⢄           ⢀⠈      ⠐   │',
      '│  ⢠⠋             ⠳⡀         ⠄   b    ⠈⡀ │',
      '│  ⡏               ⢧         ⠂        ⢀  │',
      '│  ⡇       A       ⢸         ⠈⢀      ⠐   │',
      '│  ⣇               ⡞           ⠈ ⠐ ⠂⠈    │',
      '│  ⠘⣄    @        ⡴⠁                     │',
      '│   ⠈⠳⣄         ⡠⠊                       │',
      '│     ⠈⠑⠒⠤⠤⠤⠤⠔⠒⠋                         │',
      '│                                        │',
      '└────────────────────────────────────────┘',
      '  ├────┤ 100 m    middle 52.52000, 13.40683',
    ])
  })

  test('crosses the date line and surrounds a pole', () => {
    expect(drawn([fence('Fiji', -17.7, 179.9, 20_000), fence('East', -17.7, -179.7, 8_000)]).lines).toEqual([
      '┌────────────────────────────────── N ^ ─┐',
      '│                                        │',
      '│      ⢀⡤⠒⠊⠉⠉⠉⠉⠉⠑⠲⢤⡀                     │',
      '│    ⣠⠖⠁           ⠈⠢⡀                   │',
      '│   ⡰⠃               ⠙⡆                  │',
      '│  ⢰⠃                 ⠸⡄       ⡠⠊⠉⠉⠉⠙⢦   │',
      '│  ⡞                   ⡇      ⢸⠁      ⢧  │',
      '│  ⢇         A         ⡇      ⢸⡀  B   ⡞  │',
      '│  ⠸⡄                 ⢰⠃       ⠑⢄⣀⣀⣀⡠⠞   │',
      '│   ⠱⡀               ⣠⠇           ⠈      │',
      '│    ⠙⢦⡀           ⢀⠔⠁                   │',
      '│      ⠈⠓⠦⢄⣀⣀⣀⣀⣀⡠⠴⠚⠁                     │',
      '│                                        │',
      '└────────────────────────────────────────┘',
      '  ├────────┤ 20 km    middle -17.70010, -179.90000',
    ])
    expect(drawn([fence('Pole', 90, 0, 50_000), fence('Far', 89, 0, 20_000)]).lines).toEqual([
      '┌────────────────────────────────── N ^ ─┐',
      '│                                        │',
      '│               ⢀⡴⠚⠉⠉⠉⠉⠓⢤⡀               │',
      '│              ⢠⠎        ⠙⡄              │',
      '│              ⡼     A    ⢣              │',
      '│              ⢸⡀         ⡇              │',
      '│               ⠱⣀      ⣠⠞               │',
      '│                ⠈⠙⠒⠦⠔⠒⠊⠁                │',
      '│                                        │',
      '│                  ⢀⣀⣀⡀                  │',
      '│                 ⢠⠋ B⠙⡄                 │',
      '│                 ⠈⢆⣀⣀⡰⠁                 │',
      '│                                        │',
      '└────────────────────────────────────────┘',
      '  ├────┤ 50 km    middle 89.5, 0.0',
    ])
  })

  test('shows a fence of 10 m beside one 4,000 km away as its letter', () => {
    expect(drawn([fence('Small', 52.5, 13.4, 10), fence('Far', 30, -30, 500_000)]).lines).toEqual([
      '┌────────────────────────────────── N ^ ─┐',
      '│                                        │',
      '│                                A       │',
      '│                                        │',
      '│                                        │',
      '│                                        │',
      '│                                        │',
      '│                                        │',
      '│         ⣀⣀⣀⡀                           │',
      '│       ⢠⠋   ⠈⢦                          │',
      '│       ⢇  B  ⢸                          │',
      '│       ⠘⠦⣀⣀⣀⡠⠊                          │',
      '│                                        │',
      '└────────────────────────────────────────┘',
      '  ├────┤ 1,000 km    middle 43.3, -12.3',
    ])
  })

  test('separates letters, and says which ones did not fit', () => {
    const many = Array.from({ length: 30 }, (_, i) => fence(`F${i}`, 52.52, 13.405, 1))
    const { lines, hidden } = drawn([...many, fence('Big', 52.6, 13.405, 5000)])
    const letters = lines
      .slice(1, -2)
      .join('')
      .match(/[A-Z]+/g)!
    expect(letters.join('').length).toBeGreaterThan(5)
    expect(hidden.size).toBeGreaterThan(10)
  })
})

const hostile = [...berlin, fence('a\u001b[2J<b>\u202e', 52.5195, 13.402, 40)]
const map = (args: string[], rows: unknown[] = hostile, tty = false) => {
  service.always(json(200, { status: 'success', message: 'OK', data: rows }))
  return run(['geofence', 'map', '--org', '1', ...args], { tty })
}

describe('svc geofence map', () => {
  test('is 80 columns wide in a pipe, without colour, with every fence in a table', async () => {
    const { exit, out } = await map(['--latitude', '52.5195', '--longitude', '13.4045'])
    expect(exit).toBe(0)
    const lines = out.split('\n')
    expect(lines[0]).toHaveLength(80)
    expect(out).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u)
    expect(out).toContain('@ 52.51950, 13.40450 would pass: 66 m from HQ (radius 150 m, accuracy 0 m)')
    expect(out).toContain('b  Lab ')
    expect(out).toContain('a\\u{001b}[2J<b>\\u{202e}')
  })
  test('is as wide as the terminal, with colours', async () => {
    const { out } = await map([], hostile, true)
    expect(out).toContain('\u001b[1mA')
    expect((await map(['--width', '50'])).out.split('\n')[0]).toHaveLength(50)
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
  test('writes GeoJSON points with their radius', async () => {
    const { features, type } = JSON.parse((await map(['--geojson', '-'])).out)
    expect(type).toBe('FeatureCollection')
    expect(features[1]).toEqual({
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [13.411, 52.5205] },
      properties: { name: 'Lab', radius: 90, is_active: 0 },
    })
  })
  test('escapes text of a server in GeoJSON too', async () => {
    const { out } = await map(['--geojson', '-'], [fence('a\u009b31m\u202e', 52.5, 13.4, 40)], true)
    expect(out).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u)
    expect(JSON.parse(out).features[0].properties.name).toBe('a\u009b31m\u202e')
  })
  test.each(['--html', '--geojson'])('names %s if its file cannot be written', async (flag) => {
    const { exit, err } = await map([flag, 'nowhere/x'])
    expect(exit).toBe(2)
    expect(err).toContain(`${flag}: cannot write`)
  })
  test('lists rows without a location', async () => {
    const { out, err } = await map([], [{ name: 'x' }, { ...berlin[0], radius: '1' }])
    expect(out).toBe('No geofences.\n')
    expect(err).toBe('Not drawn: 2 without a location or a radius\n')
  })
  test.each([
    [['--latitude', '1'], '--latitude and --longitude'],
    [['--latitude', '91', '--longitude', '0'], '--latitude must be -90 to 90'],
    [['--latitude', '1', '--longitude', 'east'], '--longitude must be a number'],
    [['--latitude', '1', '--longitude', '2', '--accuracy', '-1'], '--accuracy'],
    [['--width', '7'], '--width'],
  ])('rejects %j', async (args, message) => {
    const { exit, err } = await map(args)
    expect(exit).toBe(2)
    expect(err).toContain(message)
  })
})

const page = (rows = hostile, at: CheckedPoint | undefined = point): string =>
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
  test('shows each fence, or says that there is none', () => {
    expect(page().match(/<text class="mark/g)).toHaveLength(3)
    expect(page([])).toContain('No geofences.')
    expect(page([], undefined)).not.toContain('<svg')
    expect(page()).not.toContain('NaN')
  })
})

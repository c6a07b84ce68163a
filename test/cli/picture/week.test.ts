import { describe, expect, test, vi } from 'vitest'
import { json } from '../../fake-hosted.ts'
import { installHooks, run, service } from '../other-service.ts'

installHooks()

const slot = (name: string, days: string[], start: string, end: string, timezone = 'Europe/Berlin') => ({
  name,
  days,
  start,
  end,
  timezone,
})
const office = slot('Office', ['mon', 'tue'], '09:00', '17:30')
const nights = slot('Nights', ['sat'], '22:00', '06:10')
const evil = { ...slot('a\u001b[2J<b>', ['sun'], '01:00', '02:00'), is_active: 0 }

/** Runs at noon, 1 January 2026 in UTC, a Thursday. */
const week = (args: string[], of: { organization?: unknown[]; user?: unknown[] } = {}, tty = false) => {
  const { organization = [office, nights, evil], user = [] } = of
  service.always((request, response) =>
    json(200, {
      status: 'success',
      message: 'OK',
      data: request.path.includes('/user/') ? user : organization,
    })(request, response),
  )
  return run(['timeslot', 'week', '--org', '1', ...args], { tty })
}
const berlin = ['--timezone', 'Europe/Berlin']

describe('svc timeslot week', () => {
  test('uses UTC if this machine does not know its zone', async () => {
    vi.stubEnv('TZ', '')
    const { out, exit } = await week([])
    vi.unstubAllEnvs()
    expect(exit).toBe(0)
    expect(out).toContain('2025, UTC (this machine&#39;s zone)')
  })

  test('draws a week with a change to summer time', async () => {
    const { out, exit } = await week([...berlin, '--at', '2026-03-29'])
    expect(exit).toBe(0)
    expect(out).toContain('Week of Mon 23 Mar 2026, Europe/Berlin')
    // The clock skips the hour from 02:00.
    expect(out.match(/<rect class="(?:open|partly|closed)" /g)).toHaveLength(7 * 48 - 2 + 3)
    expect(out.match(/<rect class="partly" /g)).toHaveLength(2)
  })
  test('shows a repeated hour on a line of its own', async () => {
    const { out } = await week([...berlin, '--at', '2026-10-25'])
    expect(out).toMatch(/>again<\/text><rect class="open"/)
  })
  test('combines the slots of the organization and of the user, in the given zone', async () => {
    const user = [slot('Mine', ['mon', 'thu'], '00:00', '12:00', 'UTC')]
    const { out } = await week(['--user', '7', '--timezone', 'UTC'], { user })
    expect(out).toContain('<td>2025-12-29 08:00 Z</td><td>2025-12-29 12:00 Z</td>')
    expect(out).toContain('open only for the organization')
  })
  test('prints no page on a terminal', async () => {
    const { exit, out } = await week(berlin, {}, true)
    expect([exit, out]).toEqual([2, ''])
  })
  test('shows no restriction without slots', async () => {
    const { out } = await week([...berlin], { organization: [] })
    expect(out.match(/<rect class="open" [^>]*width="17"/g)).toHaveLength(7 * 48)
  })
  test('writes a page without text of a server', async () => {
    const { out } = await week([...berlin, '--at', '2026-10-25'])
    expect(out).toContain('<td>2026-10-24 22:00 +02:00</td><td>2026-10-25 06:10 +01:00</td>')
    expect(out).not.toMatch(/<script|<b>|https?:|NaN|[^\P{Cc}\n]/u)
  })
  test.each([
    [['--timezone', 'Moon/Base'], '--timezone is not a time zone: "Moon/Base"'],
    [['--at', 'tomorrow'], '--at must be a date, not "tomorrow"'],
    [['--at', '2026-02-30'], '--at must be a date, not "2026-02-30"'],
  ])('rejects %j', async (args, message) => {
    const { exit, err } = await week(args)
    expect(exit).toBe(2)
    expect(err).toContain(message)
  })
})

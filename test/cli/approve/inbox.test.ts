import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runInbox } from '../../../src/cli/approve/inbox-screen.ts'
import { placeAt } from '../../../src/cli/approve/software-device.ts'
import { json, startFakeHosted } from '../../fake-hosted.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { svc } from '../svc.ts'
import { ceremony, decides, mine, said, scripted, setUp } from './terminal-approver.ts'

describe('svc approve inbox, at a terminal', () => {
  test.each([
    ['deny', { decision: 'deny' }],
    ['not_me', { decision: 'deny', not_me: true }],
    ['note', { decision: 'deny', note: 'Not now' }],
    ['approve', { decision: 'approve' }],
  ])('sends the chosen decision once: %s', async (picked, decision) => {
    const { posted } = await decides(['apr_1', picked])
    expect(posted).toEqual([{ request_id: 'apr_1', ...decision, response: expect.anything() }])
  })
  test('prompts for the number if there is one', async () => {
    const { posted } = await decides(['apr_1', 'approve'], { ...ceremony, number_required: true })
    expect(posted).toMatchObject([{ decision: 'approve', number: '42' }])
  })
  test('prompts for the location if a rule requires one', async () => {
    const { posted, screen } = await decides(['apr_1', 'approve'], { ...ceremony, location_required: true })
    expect(screen).toContain('Location    required by a geofence')
    expect(posted).toMatchObject([
      { location: { latitude: 52.52, longitude: 52.52, accuracy_m: 0, age_ms: 0 } },
    ])
  })
  test('sends the location from its flags without a prompt', async () => {
    const place = placeAt(1, 2)
    const { posted } = await decides(
      ['apr_1', 'approve'],
      { ...ceremony, location_required: true },
      true,
      place,
    )
    expect(posted).toMatchObject([{ location: place }])
    expect((await decides(['apr_1', 'deny'], ceremony, true, place)).posted[0]).not.toHaveProperty('location')
  })
  test('names the grant in the last question and after it', async () => {
    const grant = { seconds: 3600, uses: 20, free: [] }
    const { io, context, device } = await setUp({ ...ceremony, grant })
    const asked: string[] = []
    await runInbox({ device }, scripted(['apr_1', 'grant', 'leave'], true, [], asked), context)
    expect(asked[0]).toMatch(
      /^Sign the approval of: .* on ci, and allow for 1 hour, up to 20 times: exactly this\?$/,
    )
    expect(io.err()).toContain(
      'The request is approved, and allowed for 1 hour, up to 20 times: exactly this.\n',
    )
  })
  test('names no grant when it is approved once', async () => {
    const grant = { seconds: 3600, uses: 20, free: [] }
    const { io, context, device } = await setUp({ ...ceremony, grant })
    const asked: string[] = []
    await runInbox({ device }, scripted(['apr_1', 'approve', 'leave'], true, [], asked), context)
    expect(asked[0]).not.toContain('allow')
    expect(io.err()).toContain('The request is approved.\n')
  })
  test.each([
    ['pending', 2],
    ['approved', 1],
    ['denied', 1],
  ])('offers a request of several only to who has not answered: %s', async (own, choices) => {
    const lines = [{ people: [said('8', 'approved'), said('7', own)], need: 2 }]
    const { context, device } = await setUp(ceremony, { lines })
    const shown: string[] = []
    await runInbox({ device }, scripted(['leave'], true, shown), context)
    expect(shown).toHaveLength(choices)
    expect(shown.at(-1)).toBe('Leave')
  })
  test('says that the answer of one of several counts', async () => {
    const pending = { status: 'pending', detail: '1 of 2 approved; waiting for Grace' }
    const { io, context, device } = await setUp(ceremony, {}, 'active', pending)
    await runInbox({ device }, scripted(['apr_1', 'approve', 'leave']), context)
    expect(io.err()).toContain(
      'Your approval counts. The request is pending: 1 of 2 approved; waiting for Grace.\n',
    )
  })
  test('signs nothing when the approver goes back or does not confirm', async () => {
    expect((await decides(['apr_1', 'back'])).posted).toEqual([])
    expect((await decides(['apr_1', 'approve'], ceremony, false)).posted).toEqual([])
  })
})

test('says that nobody can ask somebody who was removed', async () => {
  const { context, device } = await setUp(ceremony, {}, 'removed')
  // The last request ends with the membership.
  const run = runInbox({ device }, scripted(['apr_1', 'deny']), context)
  await expect(run).rejects.toThrow('User 7 is removed in organization 1, so nobody can ask them')
})

test('masks the phone number of a dry run unless --reveal is set, and says why there is no grant', async () => {
  const folder = temporaryFolder()
  const service = await startFakeHosted()
  try {
    service.always(json(200, { status: 'success', message: 'OK', data: ceremony }))
    const file = join(folder.path, 'ada.json')
    writeFileSync(file, JSON.stringify(mine), { mode: 0o600 })
    const env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: 'k' }
    const dry = (...more: string[]) =>
      svc(['approve', 'inbox', '--authenticator', file, '--approve', 'apr_1', '--dry-run', ...more], {
        env,
        tty: true,
      })
    expect((await dry()).out).toContain('+1••••••0101')
    expect((await dry()).out).not.toContain(mine.mobile)
    expect((await dry('--reveal')).out).toContain(mine.mobile)
    const noGrant = async (more: object): Promise<string> => {
      service.always(json(200, { status: 'success', message: 'OK', data: { ...ceremony, ...more } }))
      return (await dry('--grant')).err
    }
    expect(await noGrant({ location_required: true })).toContain('offers no grant: a geofence applies')
    expect(await noGrant({ number_required: true })).toContain('offers no grant: a number must be typed')
    expect(await noGrant({})).toContain('offers no grant: its rules allow none, or')
  } finally {
    await service.close()
    folder.remove()
  }
})

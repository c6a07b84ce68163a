import { describe, expect, test } from 'vitest'
import { acme, ada, service } from '../acme-with-ada.ts'
import { decide, post, signed } from '../approver.ts'
import { dataOf, refusal, slot } from '../fixtures.ts'
import { at } from '../rule-fixture.ts'
import { command } from './command-subject.ts'
import {
  asked,
  asker,
  consume,
  createKey,
  grace,
  granted,
  grants,
  group,
  installHooks,
  pod,
} from './grant-stage.ts'

installHooks()

describe('a grant', () => {
  test('approves the same again at once, and notifies nobody', async () => {
    const first = await granted()
    const again = await asked(pod('web-2'))
    expect(again).toMatchObject({ status: 'approved', granted_by: first.request_id, grant_use: 1 })
    expect(again.detail).toBe(`use 1 of 2, which nobody saw, approved with ${first.request_id}`)
    expect(dataOf(await consume(again)).used_at).not.toBeNull()
    const list = await service.call('GET', `/svc/v1/approvals/${again.request_id}/ceremony`)
    expect(list.status).toBe(409)
  })

  test('can be used as often as was granted, and each use once', async () => {
    await granted()
    const uses = [await asked(), await asked(pod('web-2')), await asked(pod('web-3'))]
    expect(uses.map(({ status }) => status)).toEqual(['approved', 'approved', 'pending'])
    dataOf(await consume(uses[0]))
    expect(refusal(await consume(uses[0]))[1]).toBe('already_used')
  })

  test('is neither offered nor used where each approval is checked against a time slot', async () => {
    const first = await granted()
    const noon = { ...slot, start: '00:00', end: '23:59', timezone: 'UTC' }
    dataOf(await service.call('PUT', `/user/${ada.id}/timeslots/update`, { body: { timeslots: [noon] } }))
    const again = await asked(pod('web-2'))
    expect([first.status, again.status]).toEqual(['approved', 'pending'])
    // Nor is it offered.
    const response = await signed(service, again.request_id, 'approve', ada.key)
    const answer = { decision: 'approve', grant: true, response }
    expect((await post(service, again.request_id, answer)).status).toBeGreaterThanOrEqual(400)
  })

  test('is not used without the device of who granted it, whatever another program writes into its rows', async () => {
    await granted()
    const use = await asked(pod('web-2'))
    const device = { org_id: acme.id, user_id: Number(grace.id) }
    await service.storage.write(
      async (db) => {
        const { id } = await db
          .selectFrom('devices')
          .where('user_id', '=', device.user_id)
          .where('org_id', '=', device.org_id)
          .select('id')
          .executeTakeFirstOrThrow()
        await db
          .updateTable('ballots')
          .set({ user_id: device.user_id, device_id: id })
          .where('request_id', '=', use.request_id)
          .execute()
      },
      { org: acme.id },
    )
    dataOf(await service.call('DELETE', at(acme.id, `devices/${ada.device}`)))
    expect(refusal(await consume(use))).toEqual([409, 'grant_over', []])
  })

  test('is not listed with what another program wrote into its request', async () => {
    await granted()
    expect(await grants()).toHaveLength(1)
    await service.runSql("UPDATE approvals SET subject_data = replace(subject_data, 'web-1', 'db-1')", [])
    expect(await grants()).toEqual([])
  })

  test('is offered and signed only if the approver chooses it', async () => {
    const { request_id } = await asked()
    dataOf(await decide(service, request_id, ada.key))
    expect((await asked()).status).toBe('pending')
    const offered = await asked(pod('web-2'))
    const response = await signed(service, offered.request_id, 'approve', ada.key)
    expect(
      refusal(await post(service, offered.request_id, { decision: 'approve', grant: true, response })),
    ).toEqual([403, 'assertion_refused', []])
  })

  test('is only for the key that asked', async () => {
    await granted()
    const other = await createKey('other')
    expect((await asked({}, other.key)).status).toBe('pending')
  })

  test.each([
    ['another command', ['kubectl', 'delete', 'deploy', 'web']],
    ['an option', ['kubectl', 'delete', 'pod', '--all']],
    ['one word more', ['kubectl', 'delete', 'pod', 'web-1', 'web-2']],
    ['a path that leads up', ['kubectl', 'delete', 'pod', '../x']],
    ['words in one', ['kubectl', 'delete', 'pod', 'web-1 --all']],
    ['a line break', ['kubectl', 'delete', 'pod', 'web-1\n--all']],
    ['no word', ['kubectl', 'delete', 'pod', '']],
  ])('is not for %s', async (_, argv) => {
    await granted()
    expect((await asked({ subject: command(...argv), approvers: [`@${group}`] })).status).toBe('pending')
  })

  test('is not for another file, folder, or variable', async () => {
    await granted()
    const { type, data } = command('kubectl', 'delete', 'pod', 'web-1')
    const others = [
      { ...data, executable: { ...data.executable, sha256: 'cd'.repeat(32) } },
      { ...data, cwd: '/srv/other' },
      { ...data, environment: { passed: [], set: { KUBECONFIG: '/tmp/x' } } },
      { ...data, files: [{ path: '/tmp/x', sha256: 'ab'.repeat(32) }] },
    ]
    for (const changed of others) {
      const { status, request_id } = await asked({ subject: { type, data: changed } })
      expect(status).toBe('pending')
      dataOf(await service.call('POST', `/svc/v1/approvals/${request_id}/withdraw`, { key: asker.key }))
    }
  })

  test('is not for the same in other words, nor in the name of another requester', async () => {
    await granted()
    for (const more of [{ action: 'Read the weather' }, { requester: 'Ada herself' }])
      expect((await asked({ ...pod('web-2'), ...more })).status).toBe('pending')
  })

  test('is for the words with which it was granted, and for those of svc', async () => {
    const words = { action: 'Restart a pod' }
    await granted(words)
    expect((await asked({ ...pod('web-2'), ...words })).status).toBe('approved')
    expect((await asked(pod('web-3'))).status).toBe('approved')
  })

  test('is listed, and ended with the approvals that were not used yet', async () => {
    const first = await granted()
    const open = await asked(pod('web-2'))
    expect(await grants(asker.key)).toEqual([
      {
        request_id: first.request_id,
        org_id: acme.id,
        user_id: ada.id,
        key_id: asker.id,
        credential: 'agent',
        what: 'Run kubectl delete pod web-1',
        varying: ['web-1'],
        used: 1,
        uses: 2,
        ends_at: first.granted_until,
      },
    ])
    const other = await createKey('other')
    expect(await grants(other.key)).toEqual([])
    const path = at(acme.id, `grants/${first.request_id}`)
    const hidden = await service.call('DELETE', path, { key: other.key })
    expect([hidden.status, hidden.body.data.hint]).toEqual([
      404,
      expect.stringMatching(/^svc grant list --org/),
    ])
    dataOf(await service.call('DELETE', path, { key: asker.key }))
    expect(await grants()).toEqual([])
    expect(refusal(await consume(open))[1]).toBe('not_approved')
    expect((await asked()).status).toBe('pending')
  })
})

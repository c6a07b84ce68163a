import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { sweepRetention } from '../../../src/service/lifecycle/retention.ts'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { ask, decide, show } from '../approver.ts'
import { day, minute } from '../clock.ts'
import { auditOf, dataOf, fence, refusal } from '../fixtures.ts'
import { started, validate } from '../verifications/verification.ts'

installHooks()

const sweep = (): Promise<void> => sweepRetention(service.service)

let approved: string
let receipt: { jws: string }
beforeEach(async () => {
  approved = dataOf(
    await ask(service, ada, { action: 'Pay Bob 42', reason: 'rent', requester: 'Payroll' }, acme.key),
  ).request_id
  receipt = dataOf(await decide(service, approved, ada.key)).attestation
})

const row = (request_id: string) =>
  service.storage.read((db) =>
    db.selectFrom('approvals').where('request_id', '=', request_id).selectAll().executeTakeFirstOrThrow(),
  )

const left = () =>
  service.storage.read((db) =>
    db.selectFrom('approvals').where('cleared_at', 'is', null).select('id').execute(),
  )

describe('an approval that ended', () => {
  test('keeps everything for a year', async () => {
    clock.tick(365 * day - minute)
    await sweep()
    expect(dataOf(await show(service, approved))).toMatchObject({
      action: 'Pay Bob 42',
      attestation: receipt,
    })
  })

  test('loses its texts, numbers, places and its receipt after a year, and keeps ids and digests', async () => {
    const before = await row(approved)
    clock.tick(365 * day + minute)
    await sweep()
    const after = await row(approved)
    const [ballot] = await service.runSql('SELECT * FROM ballots WHERE request_id = ?', [approved])
    expect(ballot).toMatchObject({ user_id: Number(ada.id), status: 'approved', attestation: null })
    // Random letters can be any word.
    const texts = JSON.stringify([after, ballot], (name, value: unknown) =>
      /row_mac|digest|request_id/.test(name) ? '' : value,
    )
    expect(texts).not.toMatch(/Bob|rent|Payroll|Ada|0101/)
    expect(after).toEqual({
      ...before,
      row_mac: after.row_mac,
      action: '(cleared)',
      requester: '(cleared)',
      approver_mobile: '(cleared)',
      reason: null,
      detail: null,
      ruling: null,
      attestation: null,
      lines: before.lines.replace('Ada Lovelace', '(cleared)').replace('••••••••0101', '(cleared)'),
      subject_data: null,
      cleared_at: clock.iso(),
      receipt_digest: createHash('sha256').update(receipt.jws).digest('hex'),
    })
    const record = dataOf(await show(service, approved))
    expect(record).toMatchObject({ status: 'approved', action: '(cleared)', attestation: null })
    expect(record).toMatchObject({ cleared_at: after.cleared_at, receipt_digest: after.receipt_digest })
    expect(record).toMatchObject({ subject: null, subject_digest: before.subject_digest })
    expect((await auditOf(service, acme.id)).at(-1)).toEqual([
      'clearApprovals',
      'approvals:1',
      ['cleared_at'],
    ])
    await sweep()
    expect((await row(approved)).cleared_at).toBe(after.cleared_at)
  })

  test('loses the note of its denial', async () => {
    const { request_id } = dataOf(await ask(service, ada))
    dataOf(await decide(service, request_id, ada.key, { decision: 'deny', note: 'Bob has left' }))
    clock.tick(365 * day + minute)
    await sweep()
    expect(JSON.stringify(await row(request_id))).not.toMatch(/Bob/)
  })

  test('is cleared with many others, a few in each transaction, while others write', async () => {
    const copy = await row(approved)
    await service.storage.write(
      async (db) => {
        for (let i = 0; i < 1_000; i++)
          await db
            .insertInto('approvals')
            .values({ ...copy, id: undefined, request_id: `apr_${i}` })
            .execute()
      },
      { org: 0 },
    )
    clock.tick(366 * day)
    const sweeping = sweep()
    dataOf(
      await service.call('POST', `/organization/${acme.id}/create/geo-fence`, { key: acme.key, body: fence }),
    )
    // The write did not wait for the end of the sweep.
    expect(await left()).not.toEqual([])
    await sweeping
    expect(await left()).toEqual([])
  })

  test('is left alone while it is pending', async () => {
    const { request_id } = dataOf(await ask(service, ada, { lifetime_s: 3600 }, acme.key))
    await sweepRetention({
      storage: service.storage,
      keyring: service.keyring,
      periods: { approvalsMs: -day, verificationsMs: day, idempotencyMs: day },
    })
    expect((await row(request_id)).action).toBe('Deploy 4.2')
  })
})

const count = async (): Promise<number> =>
  (await service.storage.read((db) => db.selectFrom('verifications').select('id').execute())).length

test('verifications are removed after 90 days', async () => {
  const request_id = await started()
  await decide(service, request_id, ada.key)
  clock.tick(90 * day - minute)
  await sweep()
  expect(await count()).toBe(1)
  clock.tick(2 * minute)
  await sweep()
  expect(await count()).toBe(0)
  expect(refusal(await validate())).toEqual([404, 'not_found', []])
})

const create = () =>
  service.call('POST', `/organization/${acme.id}/create/geo-fence`, {
    key: acme.key,
    body: fence,
    headers: { 'idempotency-key': 'k' },
  })

test('a response for repeats is stored for a day and then removed', async () => {
  const first = await create()
  clock.tick(day)
  expect((await create()).body).toEqual(first.body)
  clock.tick(1)
  // Before any sweep: it is too old all the same.
  expect((await create()).body.data.id).not.toBe(first.body.data.id)
  clock.tick(day + 1)
  await sweep()
  expect(await service.storage.read((db) => db.selectFrom('idempotency').selectAll().execute())).toEqual([])
})

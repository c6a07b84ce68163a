import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { sweep } from '../../../src/service/approvals/expiry.ts'
import { findAlteredRows } from '../../../src/service/custody/altered-rows.ts'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { createApprover, decide, show } from '../approver.ts'
import { day } from '../clock.ts'
import { dataOf, refusal } from '../fixtures.ts'

installHooks()

const ask = () =>
  service.call('POST', '/svc/v1/approvals', {
    body: { action: 'Deploy 4.2', approvers: [ada.mobile] },
    key: acme.key,
  })
const update = (slug: string, key?: string) =>
  service.call('PUT', `/organization/${acme.id}/update`, { body: { slug }, key })

test('an organization whose slug another program has changed asks nobody until the operator sets it again', async () => {
  await service.runSql("UPDATE organizations SET slug = 'globex'")
  expect(refusal(await ask())).toEqual([409, 'organization_altered', []])
  expect(await findAlteredRows(service.service)).toEqual([
    { org_id: acme.id, kind: 'organization', id: String(acme.id) },
  ])
  dataOf(await update('globex', acme.key))
  expect(refusal(await ask())).toEqual([409, 'organization_altered', []])
  dataOf(await update('acme'))
  expect(dataOf(await ask()).status).toBe('pending')
  expect(await findAlteredRows(service.service)).toEqual([])
})

test('a policy that another program has broken is refused, whatever reads it', async () => {
  await service.runSql("UPDATE organizations SET policy = '{'")
  const answers = [await ask(), await service.call('GET', '/organizations'), await update('acme')]
  for (const answer of answers) expect(refusal(answer)).toEqual([409, 'organization_altered', []])
})

// A database runs a trigger in the middle of a transaction: after the service has checked a row, before it writes it again.

const onAnswerOf = (user: string, change: string) =>
  service.storage.write(
    (db) =>
      sql
        .raw(
          `create trigger mallory after update of status on ballots when new.user_id = ${user} begin ${change}; end`,
        )
        .execute(db),
    { org: acme.id },
  )

test.each(['approve', 'deny'] as const)(
  'a request that a trigger changes during the last answer (%s) is not made genuine',
  async (decision) => {
    const grace = await createApprover(service, acme.id, 2)
    const body = { action: 'Deploy 4.2', approvers: [ada.mobile, grace.mobile] }
    const { request_id } = dataOf(await service.call('POST', '/svc/v1/approvals', { body }))
    dataOf(await decide(service, request_id, ada.key))
    await onAnswerOf(grace.id, `update approvals set asked_by = 77 where request_id = '${request_id}'`)
    expect(refusal(await decide(service, request_id, grace.key, { decision }))).toEqual([
      403,
      'request_not_authentic',
      [],
    ])
    expect(dataOf(await show(service, request_id)).status).toBe('pending')
    expect(await findAlteredRows(service.service)).toEqual([])
  },
)

const read = async (id: string) => [
  dataOf(await show(service, id)),
  ...dataOf(await service.call('GET', '/svc/v1/approvals')),
]
const columns = ['lines', 'rules', 'factors', 'subject_data', 'key_owner', 'break_glass', 'answers', 'ruling']

describe.each(columns)('a request whose %s is not JSON any more', (column) => {
  const alter = () => service.runSql(`update approvals set ${column} = 'x'`)
  const altered = {
    status: 'expired',
    detail: expect.stringContaining('another program changed this request'),
    lines: [],
  }

  test('is decided by nobody, and can be read and listed', async () => {
    const { request_id } = dataOf(await ask())
    await alter()
    const path = `/svc/v1/approvals/${request_id}/ceremony`
    expect(refusal(await service.call('GET', path))).toEqual([403, 'request_not_authentic', []])
    for (const one of await read(request_id)) expect(one).toMatchObject({ request_id, ...altered })
    clock.tick(day)
    await sweep(service.service)
    expect(await read(request_id)).toMatchObject([{ status: 'expired' }, { status: 'expired' }])
  })

  test('is used by nobody', async () => {
    const { request_id, subject } = dataOf(await ask())
    dataOf(await decide(service, request_id, ada.key))
    await alter()
    for (const one of await read(request_id)) expect(one).toMatchObject({ request_id, ...altered })
    const body = { digest: subject.digest }
    const used = await service.call('POST', `/svc/v1/approvals/${request_id}/consume`, {
      body,
      key: acme.key,
    })
    expect(used.status).toBe(403)
  })
})

test('a request that another program changed is not made genuine by deleting one of its people', async () => {
  const grace = await createApprover(service, acme.id, 2)
  const body = { action: 'Deploy 4.2', approvers: [ada.mobile, grace.mobile] }
  const { request_id } = dataOf(await service.call('POST', '/svc/v1/approvals', { body }))
  await service.storage.write(
    (db) => db.updateTable('approvals').set({ asked_by: 77 }).where('request_id', '=', request_id).execute(),
    { org: acme.id },
  )
  dataOf(await service.call('DELETE', `/organization/${acme.id}/delete/user/${grace.id}`))
  expect(await findAlteredRows(service.service)).toHaveLength(1)
})

test('a yes that another program wrote is shown to nobody, and nobody decides beside it', async () => {
  const { request_id } = dataOf(await ask())
  const answers = JSON.stringify([[Number(ada.id), 'approved', clock.iso()]])
  await service.runSql(`UPDATE approvals SET answers = '${answers}'`)
  const { lines, status } = dataOf(await service.call('GET', `/svc/v1/approvals/${request_id}`))
  expect([status, lines[0].people[0].answer]).toEqual(['pending', 'pending'])
  await expect(decide(service, request_id, ada.key)).rejects.toThrow('request_not_authentic')
})

import { expect, test } from 'vitest'
import { enrollPhone } from '../page/phone.ts'
import { createClock, hour } from '../clock.ts'
import { newRow } from '../../../src/service/storage/schema.ts'
import { createMember, createTenant, dataOf, refusal } from '../fixtures.ts'
import { startTestService } from '../harness.ts'
import { createMobileUser } from '../mobile-user.ts'

/** Who is accepted where only e-mail can be sent, with an address that they proved. */
const accepted = async ({
  verified,
  changed,
  lost = false,
  sms = false,
  alters = '',
}: {
  /** Hours ago. */
  verified: number
  changed?: number
  /** They had a device before. */
  lost?: boolean
  /** Whether text messages can be sent, too. */
  sms?: boolean
  /** What another program does in SQL before. */
  alters?: string
}) => {
  const clock = createClock()
  const service = await startTestService({ now: clock.now, channels: sms ? ['sms', 'email'] : ['email'] })
  const ago = (hours: number) => new Date(Date.parse(clock.iso()) - hours * hour).toISOString()
  try {
    const acme = await createTenant(service, 'acme')
    const ada = await createMember(service, acme.id, 1)
    if (lost) {
      const { device } = await enrollPhone(service, acme.id, ada)
      dataOf(await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${device}`))
    }
    const account = newRow('mobile_accounts', {
      org_id: acme.id,
      user_id: Number(ada.id),
      first_name: 'Ada',
      last_name: 'Lovelace',
      email: 'ada@proved.example',
      email_verified_at: ago(verified),
      email_changed_at: changed === undefined ? null : ago(changed),
      created_at: ago(1000),
      updated_at: ago(1000),
    })
    const row_mac = service.keyring.macOf('mobile_accounts', account)
    await service.storage.write(
      (db) =>
        db
          .insertInto('mobile_accounts')
          .values({ ...account, row_mac })
          .execute(),
      { org: 0 },
    )
    const user = `/organization/${acme.id}/user/${ada.id}`
    dataOf(await service.call('POST', `${user}/pending`, { body: {} }))
    await service.runSql(alters || 'SELECT 1')
    const answer = await service.call('POST', `${user}/accept`, { body: {} })
    if (answer.status !== 200)
      return [
        refusal(answer)[1],
        (await service.messages()).filter(({ kind }) => kind === 'enrollment').length,
      ]
    const { enrollment } = dataOf(answer)
    const sent = (await service.messages()).filter(({ kind }) => kind === 'enrollment')
    expect(sent.map(({ to }) => to)).toEqual(enrollment.channel === null ? [] : ['ada@proved.example'])
    return enrollment.channel
  } finally {
    await service.close()
  }
}

test.each([
  ['an address that is proved', { verified: 1 }, 'email'],
  ['an address that changed an hour ago', { verified: 1, changed: 1 }, null],
  ['an address that changed a day ago', { verified: 1, changed: 24 }, 'email'],
  ['an address that a clock changed which was ahead', { verified: 1, changed: -48 }, null],
  ['one that was proved an hour ago, in a recovery', { verified: 1, lost: true }, null],
  ['one that was proved before, in a recovery', { verified: 24, lost: true }, 'email'],
])('a link to %s', async (_, address, channel) => {
  expect(await accepted(address)).toBe(channel)
})

test.each([
  [{ verified: 1, alters: "UPDATE mobile_accounts SET email = 'eve@evil.example'" }, null],
  [{ verified: 1, changed: 1, alters: 'UPDATE mobile_accounts SET email_changed_at = NULL' }, null],
  [{ verified: 1, sms: true, alters: "UPDATE people SET mobile = '+12025559999'" }, ['store_changed', 0]],
])('no link goes where another program wants it: %j', async (address, end) => {
  expect(await accepted(address)).toEqual(end)
})

test('a new address of an account is reported to the verified one', async () => {
  const clock = createClock()
  const service = await startTestService({ now: clock.now })
  try {
    const acme = await createTenant(service, 'acme')
    const ada = await createMember(service, acme.id, 1, { email: 'ada@work.example' })
    await createMobileUser(service, { key: acme.key, email: 'ada@proved.example' })
    const mail = (await service.messages()).find(({ channel }) => channel === 'email')
    const token = /verify-email=([\w-]+)/.exec(mail!.text)![1]!
    const body = { token }
    const headers = { 'sec-fetch-site': 'same-origin' }
    const verify = { key: null, body, headers }
    expect((await service.call('POST', '/svc/v1/approver/email-verification', verify)).status).toBe(200)
    const update = { user_id: ada.id, email: 'ada@new.example' }
    dataOf(await service.call('POST', '/update-profile', { key: acme.key, body: update }))
    const notices = await service.messages('devices')
    expect(notices.map(({ to, subject }) => [to, subject])).toEqual([
      ['ada@work.example', 'acme: Your e-mail address changed'],
      ['ada@proved.example', 'acme: Your e-mail address changed'],
    ])
  } finally {
    await service.close()
  }
})

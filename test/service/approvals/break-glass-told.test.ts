import { expect, test } from 'vitest'
import { decide, show } from '../approver.ts'
import { day } from '../clock.ts'
import { dataOf, refusal, refusedWithoutTrace } from '../fixtures.ts'
import { exchange, sendForm, consentFrom } from '../mcp/oauth-client.ts'
import { installation } from '../mcp/terminal-stage.ts'
import { fromPhone, type Phone } from '../page/phone.ts'
import { signAway } from '../page/sign-away.ts'
import {
  acme,
  ada,
  addGroup,
  addRule,
  asks,
  bob,
  breakGlass,
  carol,
  clock,
  dave,
  destroy,
  grace,
  installHooks,
  reason,
  service,
  terminalOf,
} from './break-glass-stage.ts'
import { command } from './command-subject.ts'

// Who hears of an emergency, and who counts it.

installHooks()

const withoutAddress = ({ user }: Phone) =>
  service.storage.write(
    (db) => db.updateTable('memberships').set({ email: '' }).where('user_id', '=', Number(user)).execute(),
    { org: acme.id },
  )
const toldOf = async () =>
  (await service.messages()).filter(({ kind }) => kind === 'emergency').map(({ to }) => to)
const addressesOf = (...numbers: number[]) => numbers.map((n) => `user${n}@acme.example`)
/** A rule whose emergency group one of its own people is in. */
const breakableByCarol = async () => {
  await addGroup('both', [ada.user, carol.user, dave.user])
  const match = { type: 'command', argv: ['kubectl', '**'] }
  await addRule({ name: 'drain', match, who: ['@dba'], break_glass: '@both' })
  return command('kubectl', 'drain')
}

test('those who are skipped, the administrators and the requester are told, in words of the service', async () => {
  dataOf(await breakGlass())
  const messages = (await service.messages()).filter(({ kind }) => kind === 'emergency')
  expect(messages.map(({ to }) => to)).toEqual(addressesOf(1, 2, 3, 5))
  for (const { text } of messages) {
    expect(text).toContain(`Ada Lovelace (user ${ada.user}) broke the glass`)
    expect(text).toContain('destroy')
    expect(text).not.toContain('INC-77')
  }
})

test('those who were told can read the request, on a terminal and on the page, and others cannot', async () => {
  const { request_id } = dataOf(await breakGlass())
  const read = async (phone: Phone) => [
    (await show(service, request_id, await terminalOf(phone))).status,
    (await fromPhone(service, 'GET', `decisions/${request_id}`, phone)).status,
  ]
  expect(await read(bob)).toEqual([200, 200])
  expect((await read(dave))[0]).toBe(404)
  const { break_glass } = dataOf(await fromPhone(service, 'GET', `decisions/${request_id}`, bob))
  expect(break_glass).toMatchObject({
    reason,
    skipped: [`Ada Lovelace (user ${bob.user})`, expect.anything()],
  })
})

test('those who were told hear when it was approved, with how to review it, and when it was used', async () => {
  const { request_id, subject } = dataOf(await breakGlass())
  dataOf(await decide(service, request_id, dave.key))
  const body = { digest: subject.digest }
  dataOf(await service.call('POST', `/svc/v1/approvals/${request_id}/consume`, { key: asks, body }))
  const messages = (await service.messages()).filter(({ kind }) => kind === 'emergency')
  const about = (what: string) => messages.filter(({ subject: title = '' }) => title.endsWith(what))
  const everybody = addressesOf(1, 2, 3, 5)
  expect(about('A break-glass was approved').map(({ to }) => to)).toEqual(everybody)
  expect(about('A break-glass was used').map(({ to }) => to)).toEqual(everybody)
  for (const { text } of about('A break-glass was approved')) {
    expect(text).toContain(`svc approve review ${request_id} --ok`)
    expect(text).toContain(`(user ${dave.user})`)
  }
  for (const { text } of messages) expect(text).not.toContain('INC-77')
})

test('the glass stays whole if one of those who are skipped cannot be told, who is named', async () => {
  await withoutAddress(bob)
  expect(await refusedWithoutTrace(service, () => breakGlass())).toEqual([409, 'break_glass_unheard', []])
  expect((await breakGlass()).body.message).toContain(`(user ${bob.user})`)
})

/** What a test of the rule says about break-glass. */
const tested = async () => {
  const { argv, cwd } = destroy.data
  const body = { type: 'command', argv, cwd }
  const path = `/svc/v1/organizations/${acme.id}/rule-tests`
  const { ways_around } = dataOf(await service.call('POST', path, { key: acme.key, body }))
  return (ways_around as string[]).filter((way) => way.includes('--break-glass'))
}

test('a test of the rule says whether the glass could be broken now, or whom nobody could tell', async () => {
  expect(await tested()).toEqual([expect.stringContaining('and everybody is told')])
  await withoutAddress(bob)
  expect(await tested()).toEqual([
    `--break-glass would be refused now: svc can tell Ada Lovelace (user ${bob.user}) neither by e-mail nor by notifications, and everybody must be told.`,
  ])
})

test('whoever makes such a rule reads whom nobody could tell', async () => {
  const rule = { match: { type: 'command', argv: ['dd', '**'] }, who: ['@dba'], break_glass: '@oncall' }
  const create = async (name: string, more: object) => {
    const body = { name, ...rule, ...more }
    return dataOf(await service.call('POST', `/svc/v1/organizations/${acme.id}/rules`, { body })).unheard
  }
  expect(await create('told', {})).toBeUndefined()
  await withoutAddress(bob)
  expect(await create('untold', {})).toEqual([`Ada Lovelace (user ${bob.user})`])
  expect(await create('whole', { break_glass: undefined })).toBeUndefined()
})

test('a person of the rule who is in the emergency group too is told, also while they are away', async () => {
  const subject = await breakableByCarol()
  dataOf(await signAway(service, carol, { until: new Date(clock.now().getTime() + 7 * day).toISOString() }))
  const { break_glass, lines } = dataOf(await breakGlass({ subject }))
  expect(lines[0].people[1]).toMatchObject({ user_id: carol.user, quiet: true })
  expect(break_glass).toMatchObject({
    skipped: [bob.user],
    told: [ada.user, bob.user, carol.user, grace.user],
  })
  expect(await toldOf()).toEqual(addressesOf(1, 2, 3, 5))
})

test('the glass stays whole if a person of the rule who is asked cannot be told', async () => {
  const subject = await breakableByCarol()
  await withoutAddress(carol)
  expect(await refusedWithoutTrace(service, () => breakGlass({ subject }))).toEqual([
    409,
    'break_glass_unheard',
    [],
  ])
})

test('an administrator who cannot be told is not said to be', async () => {
  await withoutAddress(grace)
  const { break_glass } = dataOf(await breakGlass())
  expect(break_glass.told).toEqual([ada.user, bob.user, carol.user])
  expect(await toldOf()).toEqual(addressesOf(1, 2, 3))
})

test('who was put on hold just before is skipped and told', async () => {
  dataOf(await service.call('POST', `/organization/${acme.id}/user/${bob.user}/pending`))
  const { break_glass } = dataOf(await breakGlass())
  expect(break_glass.skipped).toEqual([bob.user, carol.user])
  expect(await toldOf()).toContain('user2@acme.example')
})

test('who is put on hold or is an administrator no longer is told that', async () => {
  dataOf(await service.call('POST', `/organization/${acme.id}/user/${bob.user}/pending`))
  dataOf(
    await service.call('PUT', `/organization/${acme.id}/update/user/${grace.user}`, {
      body: { role: 'member' },
    }),
  )
  const told = (await service.messages()).filter(({ subject = '' }) => /on hold|no longer/.test(subject))
  expect(told.map(({ to }) => to)).toEqual(addressesOf(2, 5))
})

test('a terminal that was signed in with a code cannot break the glass', async () => {
  const fields = { client_id: 'svc', installation: installation('b'), host: 'build-7' }
  const { text } = await sendForm(service, '/device_authorization', fields)
  const { user_code, device_code } = JSON.parse(text) as Record<string, string>
  const body = { code: user_code }
  const { request } = dataOf(await fromPhone(service, 'POST', 'consent/code', { cookie: ada.cookie, body }))
  dataOf(await consentFrom(service, ada, request, 'svc on build-7'))
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
  const grant = { grant_type, client_id: 'svc', device_code, redirect_uri: undefined, resource: undefined }
  const { access_token } = JSON.parse((await exchange(service, grant)).text) as { access_token: string }
  expect(refusal(await breakGlass({}, access_token))[1]).toBe('break_glass_not_signed_in')
})

test('an approved emergency can be used for a quarter of an hour at most', async () => {
  const { request_id } = dataOf(await breakGlass({ use_within_s: 86_400 }))
  const { use_by, decided_at } = dataOf(await decide(service, request_id, dave.key))
  expect(Date.parse(use_by) - Date.parse(decided_at)).toBe(900_000)
})

test('a review that another program writes into the store does not count', async () => {
  const { request_id } = dataOf(await breakGlass())
  dataOf(await decide(service, request_id, dave.key))
  const { reason, skipped, told } = dataOf(await show(service, request_id, asks)).break_glass
  const review = { by: Number(bob.user), verdict: 'ok', at: '2030-01-01T00:00:00.000Z' }
  const forged = JSON.stringify({ reason, skipped: skipped.map(Number), told: told.map(Number), review })
  await service.runSql(`update approvals set break_glass = '${forged}'`)
  expect(refusal(await breakGlass())).toEqual([409, 'store_changed', []])
})

test('an emergency is not forgotten because another program wrote that it is an old one', async () => {
  const { request_id } = dataOf(await breakGlass())
  dataOf(await decide(service, request_id, dave.key))
  await service.runSql("update approvals set requested_at = '2020-01-01T00:00:00.000Z'")
  expect(refusal(await breakGlass())).toEqual([409, 'store_changed', []])
})

test('an emergency is counted and waits for its review after its only signer was deleted', async () => {
  await addGroup('alone', [dave.user])
  await addRule({
    name: 'alone',
    match: { type: 'command', argv: ['kubectl', '**'] },
    who: ['@dba'],
    break_glass: '@alone',
  })
  const { request_id } = dataOf(await breakGlass({ subject: command('kubectl', 'drain') }))
  dataOf(await decide(service, request_id, dave.key))
  dataOf(await service.call('DELETE', `/organization/${acme.id}/delete/user/${dave.user}`))
  expect(refusal(await breakGlass({ subject: destroy }))).toEqual([409, 'break_glass_unreviewed', []])
  expect(dataOf(await show(service, request_id, asks)).break_glass.skipped).toEqual([bob.user, carol.user])
})

import { expect, test } from 'vitest'
import { acme, installHooks, service } from '../acme.ts'
import { answerTo, createPhone, fromPhone, linkFor, phoneRegistration } from '../page/phone.ts'
import { ada, chainOf, createMember, dataOf } from '../fixtures.ts'

installHooks()

const register = async (token: string) => {
  const { response } = phoneRegistration(
    dataOf(await fromPhone(service, 'POST', 'enrollment', { body: { token } })),
  )
  const body = { token, name: 'Pixel', response }
  return dataOf(await service.call('POST', '/svc/v1/devices', { key: null, body }))
}
const tokenIn = (text: string): string => /#enroll=([\w-]{43})/.exec(text)![1]!
const sentToken = async () => {
  const sent = (await service.messages()).filter(({ kind }) => kind === 'enrollment')
  return tokenIn(sent.at(-1)!.text)
}
const hold = async () => {
  const { id } = await createMember(service, acme.id, 1)
  dataOf(await service.call('POST', `/organization/${acme.id}/user/${id}/pending`, { body: {} }))
  return id as string
}
const idOf = async (key: string) => dataOf(await service.call('GET', '/svc/v1/whoami', { key })).id

test('a device names the key that created its link', async () => {
  const { id } = await createMember(service, acme.id, 1)
  expect(await register(await linkFor(service, acme.id, id))).toMatchObject({
    enrolled_by: await idOf(service.operatorKey),
  })
})

test('a device names the key that onboarded its organization', async () => {
  const body = { name: 'Borealis', ...ada, mobile: '2025550177' }
  const { enrollment } = dataOf(await service.call('POST', '/organization/create/onboarding', { body }))
  expect(await register(tokenIn(enrollment.url))).toMatchObject({
    enrolled_by: await idOf(service.operatorKey),
  })
})

test('a device names the key that accepted its user', async () => {
  const id = await hold()
  const path = `/organization/${acme.id}/user/${id}/accept`
  dataOf(await service.call('POST', path, { body: {}, key: acme.key }))
  expect(await register(await sentToken())).toMatchObject({ enrolled_by: await idOf(acme.key) })
})

test('a device names no key if an administrator accepted its user on the page; the audit names the administrator', async () => {
  const admin = await createPhone(service, acme.id, 9, { role: 'admin' })
  const id = await hold()
  const { cookie, key } = admin
  const path = `members/${id}`
  const begun = await fromPhone(service, 'POST', `${path}/challenge`, { cookie, body: { move: 'accept' } })
  const { challenge } = dataOf(begun)
  const body = { move: 'accept', challenge, response: answerTo(challenge, key) }
  dataOf(await fromPhone(service, 'POST', `${path}/move`, { cookie, body }))
  expect(await register(await sentToken())).toMatchObject({ enrolled_by: null })
  const accepted = (await chainOf(service, acme.id)).filter(({ changes }) => changes.includes('enrollment'))
  expect(accepted.at(-1)).toMatchObject({ actor: `user:${admin.user} (device ${admin.device})` })
})

import { expect, onTestFinished, test } from 'vitest'
import { answerTo, phoneRegistration } from '../service/page/phone.ts'
import { startSmsProvider } from '../service/delivery/sms-provider.ts'
import { createMember, createTenant, dataOf, refusal } from '../service/fixtures.ts'
import { remote } from './person.ts'
import { startService } from './processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const operator = 'svc_op_deviceproof_012345678901234567890123456789'

/** A service with or without an SMS gateway, and a new user's enrollment link. */
const enrolling = async (env: Record<string, string>) => {
  const folder = temporaryFolder()
  const running = await startService(folder.path, operator, [], env)
  onTestFinished(async () => {
    await running.stop()
    folder.remove()
  })
  const service = remote(running.baseUrl, operator)
  const site = { origin: `http://localhost:${new URL(running.baseUrl).port}`, rpId: 'localhost' }
  const acme = await createTenant(service, 'acme')
  const { id } = await createMember(service, acme.id, 1)
  const path = `/svc/v1/organizations/${acme.id}/users/${id}/enrollments`
  const { token } = dataOf(await service.call('POST', path, { body: {} }))
  const atPage = remote(running.baseUrl.replace('127.0.0.1', 'localhost'), operator)
  const page = { key: null, headers: { origin: site.origin } }
  const open = (operation: string, body: object) =>
    atPage.call('POST', `/svc/v1/approver/${operation}`, { ...page, body })
  const { key, response } = phoneRegistration(dataOf(await open('enrollment', { token })), site)
  const body = { token, name: 'Pixel', response }
  const device = dataOf(await atPage.call('POST', '/svc/v1/devices', { ...page, body }))
  const signIn = async (code?: string) => {
    const { challenge } = dataOf(await open('challenge', {}))
    return open('session', { challenge, response: answerTo(challenge, key, true, site), code })
  }
  return { device, signIn }
}

test('a service that can send SMS requires a code for the first device', async () => {
  const provider = await startSmsProvider()
  onTestFinished(() => provider.close())
  const { device, signIn } = await enrolling({ SVC_SMS_URL: provider.url })
  expect(device).toMatchObject({ state: 'pending', proof: 'otp' })
  expect(refusal(await signIn())).toEqual([403, 'device_pending', []])
  await expect.poll(() => provider.posted.length).toBe(1)
  const { to, text } = JSON.parse(provider.posted[0]!.body) as { to: string; text: string }
  expect(to).toBe('+12025550101')
  const signedIn = await signIn(/^\d{6}/.exec(text)![0])
  expect(dataOf(signedIn)).toMatchObject({ device_id: device.id })
})

test('a service that cannot send SMS accepts the link alone', async () => {
  const { device, signIn } = await enrolling({})
  expect(device).toMatchObject({ state: 'active', proof: 'link' })
  expect((await signIn()).status).toBe(200)
})

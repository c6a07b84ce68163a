import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { SmsSettings } from '../../../src/service/config/sms-settings.ts'
import type { Message } from '../../../src/service/call/message.ts'
import { createSms } from '../../../src/service/delivery/sms.ts'
import { startSmsProvider, type SmsProvider } from './sms-provider.ts'

const id = 'msg_AAAAAAAAAAAAAAAAAAAAAAAA'
const now = '2030-01-31T12:00:00.000Z'
let provider: SmsProvider
const closing: (() => Promise<void>)[] = []
beforeEach(async () => {
  provider = await startSmsProvider()
  closing.push(provider.close)
})
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

const send = (text: string, more: Partial<SmsSettings> = {}, signal = new AbortController().signal) => {
  const settings: SmsSettings = {
    url: `${provider.url}/messages`,
    headers: { authorization: 'Bearer {secret}' },
    body: { to: '{to}', text: 'Acme: {text}', meta: [{ ref: '{id}', unicode: true, parts: 2 }] },
    secret: 'tops3cret',
    ...more,
  }
  const { adapter, close } = createSms(settings, { env: {}, now: () => now })
  closing.push(close)
  const message: Message = { org_id: 1, channel: 'sms', kind: 'otp', to: '+12025550101', text }
  return adapter(message, { id, attempt: 1, signal })
}

describe('a text message', () => {
  test('is posted according to the template, with the secret and an idempotency key', async () => {
    expect(await send('Your code is 123456')).toEqual({ state: 'sent' })
    const [{ method, path, headers, body }] = provider.posted as [SmsProvider['posted'][0]]
    expect([method, path]).toEqual(['POST', '/messages'])
    expect(headers).toMatchObject({
      authorization: 'Bearer tops3cret',
      'content-type': 'application/json',
      'idempotency-key': id,
    })
    expect(JSON.parse(body)).toEqual({
      to: '+12025550101',
      text: 'Acme: Your code is 123456',
      meta: [{ ref: id, unicode: true, parts: 2 }],
    })
  })

  test.each(['"},"to":"+1999', '{secret} {to} $& $1', 'a\nb\u0000\ud800', '\\', '{"x":1}'])(
    'of %j stays text, whatever it looks like',
    async (text) => {
      await send(text)
      expect(JSON.parse(provider.posted[0]!.body)).toMatchObject({
        to: '+12025550101',
        text: `Acme: ${text}`,
      })
    },
  )

  test.each([
    [400, 'failed'],
    [404, 'failed'],
    [422, 'failed'],
    [401, 'retry'],
    [408, 'retry'],
    [500, 'retry'],
    [503, 'retry'],
  ])('with the answer %i has the state %s', async (status, state) => {
    provider.behavior.respond = (response) => void response.writeHead(status).end('+12025550101 is odd')
    expect(await send('x')).toEqual({ state, error: `the SMS provider answered ${status}` })
  })

  test.each([
    ['7', 7000],
    ['Thu, 31 Jan 2030 12:01:00 GMT', 60_000],
    ['soon', undefined],
  ])('waits as long as the provider asks: %s', async (after, after_ms) => {
    provider.behavior.respond = (response) => void response.writeHead(429, { 'retry-after': after }).end()
    expect(await send('x')).toEqual({
      state: 'retry',
      error: 'the SMS provider answered 429',
      ...(after_ms !== undefined && { after_ms }),
    })
  })

  test('follows no redirect, so that no other server gets the secret', async () => {
    provider.behavior.respond = (response) =>
      void response.writeHead(307, { location: `${provider.url}/elsewhere` }).end()
    expect(await send('x')).toMatchObject({ state: 'retry' })
    expect(provider.posted).toHaveLength(1)
  })

  test.each<[string, (response: ServerResponse) => void]>([
    ['no text', (response) => void response.writeHead(202).end(Buffer.from([0xe9]))],
    ['not what it says', (response) => void response.writeHead(202, { 'content-encoding': 'gzip' }).end('x')],
    [
      'cut off',
      (response) =>
        void response.writeHead(202).write('{', () => void setImmediate(() => response.destroy())),
    ],
  ])('that the provider accepted is not sent again if the rest of its answer is %s', async (_, respond) => {
    provider.behavior.respond = respond
    expect(await send('x')).toMatchObject({ state: 'sent' })
  })

  test('that the provider cuts off can be retried', async () => {
    provider.behavior.respond = (response) => void response.socket!.destroy()
    expect(await send('x')).toMatchObject({ state: 'retry' })
    expect(provider.posted).toHaveLength(1)
  })

  test('that the provider delays ends with its signal', async () => {
    provider.behavior.respond = () => undefined
    const giving = new AbortController()
    const heard = provider.heard()
    const sending = send('x', {}, giving.signal)
    await heard
    giving.abort()
    expect(await sending).toMatchObject({ state: 'retry' })
  })

  test('to an unreachable provider can be retried, and the error contains neither URL nor secret', async () => {
    const outcome = await send('x', { url: 'http://127.0.0.1:1/very-secret' })
    expect(outcome).toEqual({ state: 'retry', error: 'could not reach the SMS provider: connection refused' })
  })
})

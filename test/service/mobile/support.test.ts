import { afterEach, beforeEach, expect, test } from 'vitest'
import { auditOf, createTenant, dataOf, refusal } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'

const letter = {
  name: 'Ada Lovelace',
  email: 'ada@acme.example',
  subject: 'New phone',
  message: 'I have a new phone.\nHow do I move?',
}

let service: TestService
beforeEach(async () => {
  service = await startTestService({ now: () => new Date('2030-01-31T12:00:00Z') })
})
afterEach(() => service.close())

const write = (body: object, key?: string) => service.call('POST', '/contact/support', { key, body })

test('sends a message to support by e-mail, with the sender as reply address', async () => {
  const acme = await createTenant(service, 'acme')
  const { message_id } = dataOf(await write(letter, acme.key))
  expect(await service.messages()).toEqual([
    {
      org_id: acme.id,
      channel: 'email',
      kind: 'support',
      to: 'support@service.example',
      reply_to: letter.email,
      subject: 'Support: New phone',
      text: `Ada Lovelace <ada@acme.example> writes:\n\n${letter.message}`,
    },
  ])
  expect(await auditOf(service, acme.id)).toContainEqual([
    'contactSupport',
    `message:${message_id}`,
    ['support'],
  ])
})

test('names a mobile number in its canonical spelling', async () => {
  dataOf(await write({ ...letter, email: undefined, mobile: '+1 202 555 0101' }))
  const [message] = await service.messages()
  expect(message!.reply_to).toBeUndefined()
  expect(message!.text).toContain('+12025550101')
})

test('accepts three messages an hour from one sender, in any spelling', async () => {
  for (const email of ['ada@acme.example', 'Ada@acme.example', 'ADA@ACME.EXAMPLE'])
    dataOf(await write({ ...letter, email }))
  const answer = await write(letter)
  expect(refusal(answer)).toEqual([429, 'too_many_messages', []])
  expect(answer.headers['retry-after']).toBe('3600')
  dataOf(await write({ ...letter, email: 'eve@acme.example' }))
})

test('accepts sixty messages an hour from all senders', async () => {
  const answers = await Promise.all(
    Array.from({ length: 70 }, (_, i) => write({ ...letter, email: `user${i}@acme.example` })),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(60)
  expect(await service.messages()).toHaveLength(60)
})

test.each([
  [{ email: undefined }, ['email', 'mobile']],
  [{ mobile: '+12025550101' }, ['email', 'mobile']],
  [{ email: 'a b@x.example' }, ['email']],
  [{ subject: 'x\r\nBcc: all@x.example' }, ['subject']],
  [{ name: '' }, ['name']],
  [{ message: ' ' }, ['message']],
  [{ message: 'x\u001b[2J' }, ['message']],
  [{ message: 'x'.repeat(5001) }, ['message']],
  [{ name: 'a\u202eb' }, ['name']],
  [{ subject: 'a\u200bb' }, ['subject']],
  [{ message: 'a\u2066b' }, ['message']],
])('refuses a message with %j and names the field', async (wrong, fields) => {
  expect(refusal(await write({ ...letter, ...wrong }))).toEqual([422, 'invalid_field', fields])
  expect(await service.messages()).toEqual([])
})

test('preserves the lines and the emoji of a message', async () => {
  const message = 'one\r\ntwo\n\n👩\u200d💻'
  dataOf(await write({ ...letter, message }))
  expect((await service.messages())[0]!.text).toContain('one\ntwo\n\n👩\u200d💻')
})

test('without a support address, it reports how to set one', async () => {
  service.service.supportEmail = undefined
  const answer = await write(letter)
  expect(refusal(answer)).toEqual([409, 'delivery_not_configured', []])
  expect(answer.body.data.hint).toContain('SVC_SUPPORT_EMAIL')
})

import { describe, expect, test } from 'vitest'
import { readContext } from '../../../src/receipt/context.ts'
import { digestOf } from '../../../src/receipt/subject.ts'
import { verifyReceipt } from '../../../src/receipt/verify.ts'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { ask, ceremonyOf, decide } from '../approver.ts'
import { dataOf, refusal, refusedWithoutTrace } from '../fixtures.ts'
import { newRequest } from './decided.ts'

installHooks()

const call = {
  type: 'tool_call',
  data: { server: 'github', tool: 'delete_repository', arguments: { owner: 'acme', name: 'shop' } },
}
const digest = digestOf(call.data)

describe('a request with a subject', () => {
  test('has a headline and fields that are rendered from the data', async () => {
    const { subject, action } = await newRequest({ action: undefined, subject: call })
    expect(action).toBe('Call delete_repository on github')
    expect(subject).toEqual({
      ...call,
      digest,
      summary: 'Call delete_repository on github',
      fields: [
        { label: 'Server', value: 'github' },
        { label: 'Tool', value: 'delete_repository' },
        { label: 'name', value: 'shop' },
        { label: 'owner', value: 'acme' },
      ],
    })
  })

  test('keeps the text of the requester separate', async () => {
    const record = await newRequest({ action: 'Tidy up', subject: { ...call, digest } })
    expect(record).toMatchObject({
      action: 'Tidy up',
      subject: { summary: 'Call delete_repository on github' },
    })
  })

  test('is signed with its digest, its organization and its key', async () => {
    const { request_id } = await newRequest({ subject: call })
    const { contexts, subject } = await ceremonyOf(service, request_id)
    expect(subject).toMatchObject({ ...call, digest })
    for (const context of Object.values(contexts) as string[])
      expect(readContext(Buffer.from(context, 'base64url'))).toMatchObject({
        format: 1,
        organization: { id: String(acme.id), slug: 'acme' },
        key: { name: 'of acme', scopes: expect.arrayContaining(['ask', 'keys']) },
        subject: { type: 'tool_call', digest },
      })
  })

  test('has a receipt for this organization, service, key and subject', async () => {
    const { request_id } = await newRequest({ subject: call })
    const { attestation } = dataOf(await decide(service, request_id, ada.key))
    const { body: jwks } = await service.call('GET', '/.well-known/jwks.json', { key: null })
    const verify = (more: object) =>
      verifyReceipt(
        attestation,
        jwks,
        { organization: 'acme', issuer: jwks.issuer, allowDev: true, digest, ...more },
        clock.now(),
      )
    const { checks, receipts } = await verify({})
    expect(checks.filter(({ ok }) => !ok)).toEqual([])
    expect(receipts[0]).toMatchObject({
      subject: { ...call, digest },
      influences: true,
      device: { id: ada.device, proof: 'link' },
    })
    for (const other of [
      { organization: 'globex' },
      { issuer: 'https://x.example' },
      { digest: 'a'.repeat(64) },
    ])
      expect((await verify(other)).valid).toBe(false)
  })

  const bad: [object, [number, string, string[]]][] = [
    [{ action: undefined }, [422, 'invalid_field', ['action']]],
    [{ subject: { ...call, digest: 'a'.repeat(64) } }, [422, 'invalid_field', ['subject.digest']]],
    [{ subject: { type: 'sql', data: {} } }, [422, 'invalid_fields', ['subject.type']]],
    [{ subject: { type: 'text', data: {} } }, [422, 'invalid_field', ['subject.data.text']]],
    [{ subject: { ...call, more: 1 } }, [422, 'invalid_fields', ['subject.more']]],
    [
      { subject: { ...call, data: { ...call.data, note: 'x' } } },
      [422, 'invalid_field', ['subject.data.note']],
    ],
    [
      { subject: { ...call, data: { ...call.data, arguments: { a: 'x'.repeat(100_000) } } } },
      [413, 'subject_too_large', ['subject.data']],
    ],
    [
      {
        subject: {
          ...call,
          data: {
            ...call.data,
            arguments: { a: JSON.parse(`${'['.repeat(16)}${']'.repeat(16)}`) as unknown },
          },
        },
      },
      [422, 'invalid_field', ['subject.data']],
    ],
  ]
  test.each(bad)('is refused, and nobody is notified: %j', async (body, said) => {
    const answer = () => ask(service, ada, body, acme.key)
    const [status, code, fields] = await refusedWithoutTrace(service, answer)
    expect([status, fields]).toEqual([said[0], said[2]])
    expect(code.startsWith('invalid_field') || code === said[1]).toBe(true)
    expect(service.notified).toEqual([])
  })

  test('names the limit that was exceeded', async () => {
    const subject = { ...call, data: { ...call.data, arguments: { a: 'x'.repeat(40_000) } } }
    const { body } = await ask(service, ada, { subject }, acme.key)
    expect(body.message).toMatch(/at most 32768 bytes, but has 400\d\d/)
    expect(refusal(await ask(service, ada, { use_within_s: 0 }, acme.key))[2]).toEqual(['use_within_s'])
  })
})

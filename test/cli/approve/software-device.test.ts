import { describe, expect, test } from 'vitest'
import { readPlace } from '../../../src/cli/approve/software-device.ts'
import { SvcError } from '../../../src/core/errors.ts'
import { approve, ceremony, deny, encoded, other, said, setUp, subject } from './terminal-approver.ts'

test('reads a place from both flags, exact and current', () => {
  expect(readPlace({ latitude: '52.52', longitude: '-13.405' })).toEqual({
    latitude: 52.52,
    longitude: -13.405,
    accuracy_m: 0,
    age_ms: 0,
  })
  expect(readPlace({})).toBeUndefined()
})

test.each([
  [{ latitude: '52.52' }, '--latitude requires --longitude'],
  [{ longitude: '13.405' }, '--longitude requires --latitude'],
  [{ latitude: '90.1', longitude: '0' }, '--latitude must be between -90 and 90, not "90.1"'],
  [{ latitude: '0', longitude: '181' }, '--longitude must be between -180 and 180, not "181"'],
  [{ latitude: '52,52', longitude: '0' }, '--latitude must be between -90 and 90, not "52,52"'],
  [{ latitude: '', longitude: '0' }, '--latitude must be between -90 and 90, not ""'],
  [{ latitude: '1e1', longitude: '0' }, '--latitude must be between -90 and 90, not "1e1"'],
])('rejects the location %j', (typed, message) => {
  expect(() => readPlace(typed)).toThrow(message)
})

describe('the data that an approver signs', () => {
  test.each([
    [
      'another request',
      {
        contexts: {
          approve: encoded({ request_id: 'apr_2' }),
          deny: encoded({ request_id: 'apr_2', decision: 'deny' }),
        },
      },
    ],
    [
      'the request of another person',
      {
        contexts: {
          approve: encoded({ approver: other }),
          deny: encoded({ approver: other, decision: 'deny' }),
        },
      },
    ],
    ['an approval in place of a denial', { contexts: { approve, deny: approve } }],
    [
      'a denial of something else',
      { contexts: { approve, deny: encoded({ action: 'Deploy 9', decision: 'deny' }) } },
    ],
    [
      'a subject that does not match its digest',
      { subject: { ...subject, data: { ...subject.data, tool: 'x' } } },
    ],
    ['a subject of another type', { subject: { ...subject, type: 'text' } }],
    ['no subject', { subject: undefined }],
    ['an unreadable context', { contexts: { approve: 'AAAA', deny } }],
    ['a request for another key', { credentials: [] }],
  ])('is never %s', async (_, changes) => {
    const { device, posted } = await setUp({ ...ceremony, ...changes })
    await expect(device.open('apr_1')).rejects.toBeInstanceOf(SvcError)
    expect(posted).toEqual([])
  })
  test('is never for another site than that of the key', async () => {
    const { device, posted } = await setUp({
      ...ceremony,
      rp_id: 'evil.example',
      origin: 'https://evil.example',
    })
    const opened = await device.open('apr_1')
    await expect(opened.decide({ decision: 'approve' })).rejects.toThrow(/cannot sign for/)
    expect(posted).toEqual([])
  })
  test('is never for a request that the person has answered', async () => {
    const lines = [{ people: [said('8', 'pending'), said('7', 'approved')], need: 2 }]
    const { device } = await setUp({ ...ceremony, lines, credentials: [] })
    await expect(device.open('apr_1')).rejects.toMatchObject({
      code: 'already_answered',
      hint: 'svc approve status apr_1',
    })
  })
})

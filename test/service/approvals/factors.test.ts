import { describe, expect, test } from 'vitest'
import { verifyReceipt } from '../../../src/receipt/verify.ts'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { ask, ceremonyOf, decide, show } from '../approver.ts'
import { minute } from '../clock.ts'
import { dataOf, fence, refusal, slot } from '../fixtures.ts'

installHooks()

// The clock says a Thursday, 13:00 in Berlin.

const policy = async (fields: object): Promise<void> =>
  dataOf(await service.call('PUT', `/organization/${acme.id}/update`, { body: { policy: fields } }))
const addSlot = async (fields: object = {}): Promise<void> =>
  dataOf(
    await service.call('POST', `/organization/${acme.id}/timeslots/add`, { body: { ...slot, ...fields } }),
  )
const addFence = async (): Promise<void> =>
  dataOf(await service.call('POST', `/organization/${acme.id}/create/geo-fence`, { body: fence }))
const newRequest = async (factors?: string[]) => dataOf(await ask(service, ada, { factors }, acme.key))
const approve = (id: string, from?: string) => decide(service, id, ada.key, { decision: 'approve' }, from)
const resultsOf = ({ attestation }: { attestation: { claims: { factors: { factor: string }[] } } }) =>
  Object.fromEntries(
    attestation.claims.factors.map((one) => {
      const { factor, policy: mode, result } = one as Record<string, string>
      return [factor, `${mode} ${result}`]
    }),
  )

describe('the factors of a request', () => {
  test('are those of the request, those of the organization, and always the user', async () => {
    await addSlot()
    await policy({ factors: ['time'], device_trust: true })
    expect((await newRequest()).factors).toEqual(['biometric', 'time'])
    expect((await newRequest(['device'])).factors).toEqual(['biometric', 'time', 'device'])
  })

  test('cannot include a factor of the organization that nobody can pass', async () => {
    await policy({ factors: ['location'] })
    const answer = await ask(service, ada)
    expect(refusal(answer)).toEqual([409, 'factor_unchecked', []])
    expect(answer.body.message).toContain('The organization requires location, and acme has no active')
    expect(service.notified).toEqual([])
  })

  test('cannot include a factor without anything to check it against; the error names the commands that add it', async () => {
    const answer = await ask(service, ada, { factors: ['biometric', 'location', 'time', 'device'] })
    expect(refusal(answer)).toEqual([422, 'invalid_field', ['factors']])
    expect(answer.body.message).toBe(
      'factors cannot include location and time: this request requires it, and acme has no active geofence and no active time slot to check it against',
    )
    expect(answer.body.data.hint).toBe(
      'Leave it out, or first: svc geofence create --name NAME --latitude DEGREES --longitude DEGREES --radius METRES --is-active 1 --org acme; ' +
        'svc timeslot create --name NAME --days mon,tue,wed,thu,fri --start 09:00 --end 17:00 --timezone ZONE --org acme',
    )
    await addFence()
    await addSlot()
    const { factors } = await newRequest(['biometric', 'location', 'time', 'device'])
    expect(factors).toEqual(['biometric', 'location', 'time', 'device'])
  })

  test('can include the device without a policy, because a registered one signs each approval', async () => {
    const { request_id } = await newRequest(['device'])
    expect(resultsOf(dataOf(await approve(request_id)))).toEqual({
      biometric: 'required PASS',
      device: 'required PASS',
    })
  })

  test('do not stop a request when they are defaults, and the receipt says which were not checked', async () => {
    const default_factors = ['biometric', 'location', 'time', 'device']
    const { request_id, factors } = dataOf(await ask(service, ada, { default_factors }, acme.key))
    expect(factors).toEqual(['biometric', 'device'])
    const decided = dataOf(await approve(request_id))
    expect([decided.status, resultsOf(decided)]).toEqual([
      'approved',
      {
        biometric: 'required PASS',
        device: 'required PASS',
        location: 'report_only INSUFFICIENT_DATA',
        time: 'report_only INSUFFICIENT_DATA',
      },
    ])
    expect(decided.ruling).toContainEqual(
      expect.objectContaining({
        factor: 'time',
        reason: 'not checked: there is nothing to check it against',
      }),
    )
    const expected = { organization: 'acme', factors: ['location'], allowDev: true, allowUnseparated: true }
    const keys = await (await service.app.request('/.well-known/jwks.json')).json()
    const { valid, checks } = await verifyReceipt(decided.attestation, keys, expected, clock.now())
    expect([valid, checks.find(({ name }) => name === 'expected factor location')?.detail]).toEqual([
      false,
      'INSUFFICIENT_DATA',
    ])
  })

  test('include a default that can be checked, and one that can be checked by the time of the decision', async () => {
    await addSlot()
    const default_factors = ['location', 'time']
    const { request_id, factors } = dataOf(await ask(service, ada, { default_factors }, acme.key))
    expect(factors).toEqual(['biometric', 'time'])
    await addFence()
    const { status, body } = await approve(request_id)
    expect([status, body.message]).toEqual([
      403,
      expect.stringContaining('location: no location was provided'),
    ])
  })

  test('are those of the request alone if it names any', async () => {
    const input = { factors: ['device'], default_factors: ['location'] }
    const { request_id } = dataOf(await ask(service, ada, input, acme.key))
    expect(Object.keys(resultsOf(dataOf(await approve(request_id))))).toEqual(['biometric', 'device'])
  })

  test('do not include those that are only reported', async () => {
    await addFence()
    await policy({ report_only: ['location'] })
    expect((await newRequest(['location'])).factors).toEqual(['biometric'])
  })
})

describe('the decision', () => {
  test('passes inside the time slot, on a registered device, and the receipt says so', async () => {
    await addSlot()
    await policy({ device_trust: true })
    const { request_id, ruling } = await newRequest(['time', 'device'])
    expect(ruling).toBeNull()
    const decided = dataOf(await approve(request_id))
    expect(decided.ruling).toEqual(decided.attestation.claims.factors)
    expect(resultsOf(decided)).toEqual({
      biometric: 'required PASS',
      time: 'required PASS',
      device: 'required PASS',
    })
    const { body: jwks } = await service.call('GET', '/.well-known/jwks.json', { key: null })
    const wanted = { factors: ['biometric', 'time', 'device'], allowDev: true }
    expect((await verifyReceipt(decided.attestation, jwks, wanted, clock.now())).valid).toBe(true)
  })

  test('is a denial outside of the time slot, with a reason and no receipt', async () => {
    await addSlot({ end: '13:02' })
    const { request_id } = await newRequest(['time'])
    clock.tick(2 * minute)
    const answer = await approve(request_id)
    expect(refusal(answer)).toEqual([403, 'denied', []])
    expect(answer.body.message).toContain('time: Thu 13:02 Europe/Berlin is outside')
    expect(dataOf(await show(service, request_id))).toMatchObject({
      status: 'denied',
      detail: expect.stringContaining('refused by the rules: time: Thu 13:02'),
      ruling: [
        { factor: 'biometric', policy: 'required', result: 'PASS' },
        { factor: 'time', policy: 'required', result: 'FAIL', reason: expect.stringContaining('13:02') },
      ],
      attestation: null,
    })
    expect(refusal(await approve(request_id).catch(() => answer))).toEqual([403, 'denied', []])
  })

  test('fails closed without a location', async () => {
    await addFence()
    const { request_id } = await newRequest(['location'])
    expect((await approve(request_id)).body.message).toContain('location: no location was provided')
  })

  test.each([
    ['is required', {}, [], true],
    ['is not, where it is only reported', { report_only: ['location'] }, [], false],
    [
      'is required, where it was asked for before it was only reported',
      { report_only: ['location'] },
      ['location'],
      true,
    ],
  ])('a place %s, and the device is told', async (_, later, factors, required) => {
    await addFence()
    const { request_id } = await newRequest(factors)
    await policy(later)
    expect((await ceremonyOf(service, request_id)).location_required).toBe(required)
    expect(dataOf(await show(service, request_id)).status).toBe('pending')
    expect((await approve(request_id)).status).toBe(required ? 403 : 200)
  })

  test('applies a time slot of the user in addition to that of the organization', async () => {
    await addSlot()
    const timeslots = [{ ...slot, start: '20:00', end: '21:00' }]
    await service.call('PUT', `/user/${ada.id}/timeslots/update`, { body: { org_id: acme.id, timeslots } })
    const { request_id } = await newRequest(['time'])
    expect(refusal(await approve(request_id))).toEqual([403, 'denied', []])
  })

  test('counts only from an allowed network', async () => {
    await policy({ ip_allow: ['203.0.113.0/24'] })
    const [inside, outside, nowhere] = [await newRequest(), await newRequest(), await newRequest()]
    expect(resultsOf(dataOf(await approve(inside.request_id, '203.0.113.9')))).toMatchObject({
      ip: 'required PASS',
    })
    for (const [{ request_id }, from] of [
      [outside, '198.51.100.1'],
      [nowhere, undefined],
    ] as const)
      expect(refusal(await approve(request_id, from))).toEqual([403, 'denied', []])
  })

  test('does not depend on factors that are only reported', async () => {
    await addFence()
    await policy({ report_only: ['location'] })
    const { request_id } = await newRequest()
    const results = resultsOf(dataOf(await approve(request_id)))
    expect(results).toEqual({ biometric: 'required PASS', location: 'report_only INSUFFICIENT_DATA' })
  })

  test('applies the factors that the approver read, even if the policy has changed', async () => {
    await addSlot({ end: '13:02' })
    const { request_id } = await newRequest(['time'])
    await policy({ report_only: ['time'] })
    clock.tick(2 * minute)
    expect(refusal(await approve(request_id))).toEqual([403, 'denied', []])
  })

  test('always counts if it is a denial', async () => {
    await addFence()
    const { request_id } = await newRequest(['location'])
    const denied = dataOf(await decide(service, request_id, ada.key, { decision: 'deny' }))
    expect(denied.status).toBe('denied')
    expect(resultsOf(denied)).toMatchObject({ location: 'required FAIL' })
  })
})

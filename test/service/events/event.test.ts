import { describe, expect, test } from 'vitest'
import { passes } from '../../../src/contract/event.ts'
import type { ChainRow } from '../../../src/receipt/chain.ts'
import { eventIdOf, toEvent } from '../../../src/service/events/event.ts'

const row = (more: Partial<ChainRow>): ChainRow => ({
  org_id: 1,
  seq: 42,
  at: '2030-01-31T12:00:00.000Z',
  actor: 'ci (key 3)',
  action: 'createUser',
  subject: 'user:7',
  changes: [],
  request_id: 'req_1',
  rules: 0,
  prev_hash: '0'.repeat(64),
  hash: `9f3a12bc${'0'.repeat(56)}`,
  ...more,
})

test.each([
  ['createApproval', 'approval:apr_1', ['action', 'factors'], 'approval.requested'],
  ['verifyUser', 'approval:apr_1', ['mobile'], 'approval.requested'],
  ['decideApproval', 'approval:apr_1', ['status', 'approved'], 'approval.approved'],
  ['decideApproval', 'approval:apr_1', ['status', 'denied', 'not_me'], 'approval.denied'],
  ['decideApproval', 'approval:apr_1', ['number_tries', 'status', 'denied'], 'approval.denied'],
  ['decideApproval', 'approval:apr_1', ['number_tries'], undefined],
  ['decideApproval', 'approval:apr_1', ['answers'], 'approval.answered'],
  ['verifyUser', 'approval:apr_1', ['status', 'withdrawn'], 'approval.withdrawn'],
  ['expireApproval', 'approval:apr_1', ['status'], 'approval.expired'],
  ['withdrawApproval', 'approval:apr_1', ['status', 'withdrawn'], 'approval.withdrawn'],
  ['deleteUser', 'approval:apr_1', ['status', 'withdrawn'], 'approval.withdrawn'],
  ['consumeApproval', 'approval:apr_1', ['used_at'], 'approval.used'],
  ['createEnrollment', 'user:7', ['enrollment'], 'device.link_created'],
  ['registerDevice', 'device:5', ['name', 'kind', 'state'], 'device.registered'],
  ['approveDevice', 'device:5', ['active_from'], 'device.approved'],
  ['approveDevice', 'device:5', ['state', 'bound_at'], 'device.activated'],
  ['activateDevice', 'device:5', ['state'], 'device.activated'],
  ['approveDevice', 'device:5', ['state', 'proof'], 'device.activated'],
  ['moveDevice', 'device:5', ['state', 'refused'], 'device.refused'],
  ['moveDevice', 'device:5', ['state'], undefined],
  ['revokeDevice', 'device:5', ['state', 'revoked_at'], 'device.revoked'],
  ['openSession', 'device:5', ['session'], undefined],
  ['createUser', 'user:7', ['email'], 'member.created'],
  ['holdUser', 'user:7', ['state', 'held'], 'member.held'],
  ['setAway', 'user:7', ['away'], 'member.updated'],
  ['signAway', 'user:7', ['away'], 'member.updated'],
  ['createKey', 'key:3', ['name'], 'key.created'],
  ['rotateKey', 'key:3', ['expires_at'], 'key.rotated'],
  ['confirmKeyOwner', 'key:3', ['id'], 'key.confirmed'],
  ['rotateKey', 'key:4', ['overlap_s'], 'key.created'],
  ['removeUser', 'key:3', ['revoked_at'], 'key.revoked'],
  ['updateOrganization', 'organization:1', ['policy'], 'policy.updated'],
  ['setUserGeofences', 'user:7', ['geofences'], 'policy.updated'],
  ['signAuditHead', 'audit:41', [], 'audit.head'],
  ['sendOtp', 'message:msg_1', ['otp'], undefined],
  ['loginMachine', 'machine:press', ['logged_in'], undefined],
])('%s of %s %j is %s', (action, subject, changes, type) => {
  expect(toEvent(row({ action, subject, changes }))?.type).toBe(type)
})

test('an event has one id, which tells it from another event in its place', () => {
  expect(eventIdOf(row({}))).toBe('evt_1_42_9f3a12bc')
  expect(eventIdOf(row({ hash: 'f'.repeat(64) }))).not.toBe(eventIdOf(row({})))
})

describe('an event contains no name', () => {
  test.each([
    ['ci (key 3)', 'key:3'],
    ['user:7 (device 5)', 'user:7'],
    ['user:7 (key 3)', 'user:7'],
    ['user:7', 'user:7'],
    ['service', 'service'],
    ['Ada Lovelace', 'service'],
  ])('of the actor %s', (actor, id) => {
    expect(toEvent(row({ actor }))!.data.actor).toBe(id)
  })
})

test('a filter is a type or a group', () => {
  expect(passes('approval.denied', ['approval'])).toBe(true)
  expect(passes('approval.denied', ['approval.denied'])).toBe(true)
  expect(passes('approval.denied', ['approval.approved', 'key'])).toBe(false)
  expect(passes('keys.created', ['key'])).toBe(false)
})

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { json } from '../../fake-hosted.ts'
import type { ApprovalContext } from '../../../src/receipt/context.ts'
import { textSubject, type Subject } from '../../../src/receipt/subject.ts'
import { approval, approverKey, createIssuer, specimen } from '../../receipt/specimen.ts'
import { folder, installHooks, service } from '../other-service.ts'
import { record } from './records.ts'
import { approvals, decides, respondWith, refused, sent, success, approve, to } from './approval-service.ts'

installHooks()

const ran = (): boolean => existsSync(join(folder.path, 'ran'))

describe('svc approve run', () => {
  const child = ['--', '/bin/sh', '-c', ': > ran']
  const asked = ['run', '--action', 'Deploy', ...to, ...child]

  test.each([
    ['denied', 106],
    ['expired', 107],
    ['cancelled', 101],
  ])('does not run the command when the status is %s', async (status, code) => {
    respondWith(decides({ status: status as 'denied' }))
    expect((await approve(asked)).exit).toBe(code)
    expect(ran()).toBe(false)
  })
  test.each([
    ['no receipt', null],
    ['a receipt that nobody signed', { format: 'jws', jws: 'a.b.c', kid: 'k', claims: {} }],
  ])('does not run the command on an approval with %s', async (_, attestation) => {
    respondWith({
      ...decides({ status: 'approved', attestation: attestation as null }),
      [`GET /.well-known/jwks.json`]: json(200, { keys: [] }),
    })
    expect((await approve(asked)).exit).toBe(101)
    expect(ran()).toBe(false)
  })
  test.each([
    ['matches', {}, 0],
    ['is for another command', { subject: textSubject('Deploy') }, 101],
    ['is from another person', { approver: { ...approval.approver, mobile: '+12025550102' } }, 101],
    ['is for another request', { request_id: 'apr_0' }, 101],
    ['is a denial', { decision: 'deny' }, 101],
    ['lacks a required factor', { factors: ['biometric'] }, 101],
    ['is from one of two people who must agree', {}, 101, ['--to', '+12025550102']],
    ['names no group that must agree', {}, 101, ['--to', '@sre']],
  ] as const)(
    'runs the command only with a genuine receipt, here one that %s',
    async (_, changes, code, also: readonly string[] = []) => {
      const issuer = await createIssuer()
      const { requested_at, expires_at } = record()
      const { subject: other, ...differing } = { subject: undefined, ...changes }
      const command = [...asked.slice(0, 5), '--factors', 'biometric,location', ...also, ...child]
      const { out } = await approve([...command.slice(0, 7), '--dry-run', '-o', 'json', ...child])
      const { subject } = JSON.parse(out).body as { subject: Subject }
      const context: ApprovalContext = {
        ...approval,
        organization: { id: '1', slug: 'acme' },
        request_id: 'apr_1',
        action: 'Deploy',
        requested_at,
        request_expires_at: expires_at,
        ...differing,
        factors: [...('factors' in changes ? changes.factors : approval.factors)],
      }
      const decidedAt = new Date(requested_at)
      const attestation = await specimen(issuer, context, approverKey(), {
        decidedAt,
        subject: other ?? subject,
      })
      respondWith({
        ...decides({ status: 'approved', attestation }),
        [`POST ${approvals}/apr_1/consume`]: success(record({ used_at: requested_at })),
        [`GET /.well-known/jwks.json`]: json(200, { ...issuer.jwks, issuer: 'https://approve.example.com' }),
      })
      const { exit } = await approve(command)
      expect(exit).toBe(code)
      expect(sent('POST', '/consume')).toHaveLength(code === 0 ? 1 : 0)
      expect(ran()).toBe(code === 0)
    },
  )
  test('withdraws the request when the service fails during the wait', async () => {
    respondWith({
      [`POST ${approvals}`]: success(record()),
      [`GET ${approvals}/apr_1`]: refused(403, 'forbidden'),
      [`POST ${approvals}/apr_1/withdraw`]: success(record({ status: 'expired' })),
    })
    expect((await approve(asked)).exit).toBe(104)
    expect(sent('POST', '/withdraw')).toHaveLength(1)
    expect(ran()).toBe(false)
  })
  test.each([
    [['run', '--action', 'Deploy', ...to, '--', 'no-such-command-anywhere'], 127],
    [['run', '--action', 'Deploy', ...to, '--', '/etc/passwd'], 126],
    [['run', '--action', 'Deploy', ...to], 102],
    [['run', ...to, '--bind', 'nothing-here', ...child], 102],
    [['run', ...to, '--env', 'SVC_API_KEY', ...child], 102],
    [['run', ...to, '--env', 'NOT_SET_ANYWHERE', ...child], 102],
    [['run', '--nothing', ...child], 102],
  ])('%j notifies nobody and exits with %i', async (args, code) => {
    expect((await approve(args)).exit).toBe(code)
    expect(service.seen).toEqual([])
  })
})

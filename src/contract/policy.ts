import * as z from 'zod/mini'
import { line, optional, seconds } from './field.ts'
import { factors } from './records.ts'

/** Where the key of an approver can be. spec: not shown */
export const authenticators = ['platform', 'synced', 'security_key'] as const

/** What an organization enforces. spec: not shown */
export const policy = z.strictObject({
  ip_allow: optional(z.array(line(64)), 'Networks (CIDR) that approvals may come from; empty allows all', {
    example: ['203.0.113.0/24'],
  }),
  device_trust: optional(z.boolean(), 'Accept only devices that are registered to the user'),
  require_number: optional(z.boolean(), 'Require the approver to type the number that the requester sees'),
  factors: optional(z.array(z.enum(factors)), 'Factors that every approval needs', {
    example: ['biometric', 'location'],
  }),
  separation: optional(
    z.enum(['standard', 'strict']),
    'strict: refuse requests from keys that can influence who approves, and devices that go back to the key or its creator',
  ),
  not_requester: optional(z.boolean(), 'Refuse an approver who owns the requesting key'),
  deny_check: optional(
    z.enum(['verification', 'presence']),
    'Device check for a denial; presence: a touch is enough, without face, fingerprint or PIN; default: verification',
    { example: 'presence' },
  ),
  report_only: optional(z.array(z.enum(factors)), 'Factors that are reported but never fail', {
    example: ['location'],
  }),
  device_proof: optional(
    z.enum(['link', 'otp']),
    'Proof for a first device: the link alone, or a code sent to the mobile number of the user',
    { example: 'otp' },
  ),
  recovery_delay_s: optional(
    seconds(0, 2_592_000, '2592000 (30 days)'),
    'Seconds before a recovered device or a new administrator takes effect; default: 86400',
    { example: 86_400, flag: 'recovery-delay' },
  ),
  session_max_s: optional(
    seconds(300, 604_800, '604800 (7 days)'),
    'Seconds after which a person signs in again on a terminal; default: 28800',
    { example: 28_800, flag: 'session-max' },
  ),
  attestation: optional(
    z.enum(['none', 'direct']),
    'direct: accept only devices whose manufacturer attests their model',
    { example: 'direct' },
  ),
  allowed_aaguids: optional(
    z.array(
      line(36).check(
        z.regex(
          /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/,
          'must be an AAGUID such as 08987058-cadc-4b81-b6e1-30de50dcbe96',
        ),
      ),
    ),
    'Authenticator models (AAGUIDs) that can register; any entry implies attestation direct; empty allows all',
    { example: ['08987058-cadc-4b81-b6e1-30de50dcbe96'] },
  ),
  authenticators: optional(
    z.array(z.enum(authenticators)),
    'Authenticators that can register: platform (built into a phone or computer), synced (a passkey that is copied to other devices), security_key; empty allows all',
    { example: ['platform', 'security_key'] },
  ),
  device_bound_only: optional(z.boolean(), 'Accept only keys that cannot be copied to another device'),
})
export type Policy = z.infer<typeof policy>

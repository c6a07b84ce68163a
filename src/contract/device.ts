import * as z from 'zod/mini'
import { addedThings, endedThings, with_added } from './added.ts'
import { approvalRecord, request_id } from './approval.ts'
import { grantOffer } from './grant.ts'
import { chosen, id, line, nullable, optional, positive } from './field.ts'
import { operations } from './declaration.ts'
import { org_id, place, time, user_id, webauthn } from './records.ts'

// Devices of approvers, and the operations that a device calls, under /svc/v1. spec: not shown

const device_id = chosen(id, 'Device id', { example: '5' })

export const deviceStates = ['pending', 'active', 'revoked', 'refused'] as const
export const deviceProofs = ['link', 'otp', 'device', 'admin'] as const

export const deviceRecord = z.looseObject({
  id: device_id,
  org_id: chosen(positive, 'Organization id'),
  user_id: chosen(id, 'User id'),
  name: chosen(z.string(), 'Name, chosen by its owner'),
  kind: chosen(z.enum(['phone', 'software']), 'software: a key file, for development only'),
  state: chosen(z.enum(deviceStates), 'State; only an active device can approve or deny'),
  proof: chosen(
    z.enum(deviceProofs),
    'What activated it or has to activate it: link, otp (a code by SMS), device (another device), admin (a recovery)',
  ),
  comparison_code: chosen(
    z.string(),
    'Six digits of its key; the device shows them while it waits, so that whoever approves it can compare',
  ),
  registered_at: chosen(time, 'When it was registered'),
  bound_at: nullable(time, 'When it became active'),
  active_from: nullable(time, 'End of the cooling period of an approved recovery'),
  enrolled_by: nullable(id, 'Key that created its link; null if a device did, on the approver page'),
  aaguid: nullable(z.string(), 'Model of the authenticator'),
  backup_eligible: nullable(z.boolean(), 'Whether its key can be copied to other devices'),
  backed_up: nullable(z.boolean(), 'Whether its key was copied to other devices, when it last signed'),
  attachment: nullable(
    z.enum(['platform', 'cross-platform']),
    'Where its key is, as the browser says: in the device, or in a security key or another device',
  ),
  attestation_format: nullable(z.string(), 'Format of its attestation; none if it has none'),
  last_used_at: nullable(time, 'When it last signed a decision, a sign-in or another change'),
  revoked_at: nullable(time, 'When it was revoked'),
})

/** What the approver's device signs: the exact bytes of one of two contexts, base64url. See `receipt/context.ts`. */
export const ceremony = z.looseObject({
  request_id,
  rp_id: chosen(z.string(), 'Relying party id'),
  origin: chosen(z.string(), 'Origin on which the device must sign'),
  contexts: chosen(
    z.strictObject({
      approve: chosen(z.string(), 'Context of an approval, base64url'),
      deny: chosen(z.string(), 'Context of a denial, base64url'),
    }),
    'The bytes to sign, by decision',
  ),
  credentials: chosen(z.array(z.string()), 'Ids of the credentials that can sign'),
  number_required: chosen(z.boolean(), 'Whether the number must be typed'),
  verified_as: approvalRecord.shape.verified_as,
  subject: approvalRecord.shape.subject,
  requested_from: optional(z.string(), 'IP address that the request came from'),
  lines: approvalRecord.shape.lines,
  grant: optional(
    grantOffer,
    'What the approver can allow besides: the same again, for a while; left out if nothing',
  ),
  location_required: optional(z.boolean(), 'Whether an approval without a location is denied'),
})

export const device = operations({
  createEnrollment: {
    route: 'POST /svc/v1/organizations/{org_id}/users/{user_id}/enrollments',
    cli: 'user enroll',
    scope: 'devices',
    summary: 'Create a one-use link that registers the phone of a user',
    message: 'Enrollment started',
    example: '7 --org acme',
    input: z.strictObject({ org_id, user_id }),
    data: z.looseObject({
      url: chosen(z.string(), 'One-use link to the approver page', { secret: true }),
      token: chosen(z.string(), 'The token of the link', { secret: true }),
      expires_at: chosen(time, 'When it expires'),
      rp_id: chosen(z.string(), 'Relying party id'),
      origin: chosen(z.string(), 'Origin on which the device must register'),
      challenge: chosen(z.string(), 'Challenge that the registration signs, base64url'),
      user_handle: chosen(z.string(), 'User handle that the authenticator stores, base64url'),
      proof: chosen(z.enum(deviceProofs), 'What activates the device after its registration'),
    }),
  },
  registerDevice: {
    route: 'POST /svc/v1/devices',
    cli: 'user devices register',
    hidden: true,
    open: true,
    summary: 'Register an authenticator with the token of an enrollment',
    message: 'Device registered',
    input: z.strictObject({
      token: chosen(line(100), 'Token of the enrollment link', { secret: true }),
      name: chosen(line(60), 'Name of the device', { example: 'Pixel of Ada' }),
      software: optional(
        z.boolean(),
        'The authenticator is a key file; only for a service that runs with --dev',
      ),
      response: chosen(webauthn, 'RegistrationResponseJSON of WebAuthn'),
    }),
    data: z.extend(deviceRecord, {
      repeated: optional(
        z.literal(true),
        'It was registered by an earlier call. That answer had the session; this one has none',
      ),
    }),
  },
  listDevices: {
    route: 'GET /svc/v1/organizations/{org_id}/users/{user_id}/devices',
    cli: 'user devices list',
    scope: 'read',
    cacheable: true,
    summary: 'List the devices of a user',
    message: 'Devices',
    example: '7 --org acme',
    input: z.strictObject({ org_id, user_id }),
    data: z.array(deviceRecord),
    columns: [
      'id',
      'name',
      'kind',
      'state',
      'comparison_code',
      'proof',
      'bound_at',
      'active_from',
      'enrolled_by',
      'last_used_at',
    ],
    wide: ['enrolled_by', 'proof', 'bound_at'],
  },
  listAdded: {
    route: 'GET /svc/v1/organizations/{org_id}/devices/{device_id}/added',
    cli: 'user devices added',
    scope: ['read', 'devices'],
    summary: 'List the devices and agents of a user that were added with a device',
    message: 'Added with the device',
    example: '5 --org acme',
    input: z.strictObject({ org_id, device_id }),
    data: addedThings,
  },
  revokeDevice: {
    route: 'DELETE /svc/v1/organizations/{org_id}/devices/{device_id}',
    cli: 'user devices revoke',
    scope: 'devices',
    summary: 'Revoke a device; it can no longer approve or deny',
    message: 'Device revoked',
    example: '5 --org acme --yes',
    input: z.strictObject({ org_id, device_id, with_added }),
    data: z.extend(deviceRecord, {
      ...endedThings,
      next: nullable(z.string(), 'What to do next if it was the last device'),
    }),
  },
  approveDevice: {
    route: 'POST /svc/v1/organizations/{org_id}/devices/{device_id}/approve',
    cli: 'user devices approve',
    effect: 'decides',
    scope: 'devices',
    operator: true,
    summary: 'Approve the recovery of a lost last device when no other administrator can',
    message: 'Recovery approved',
    example: '5 --org acme --comparison-code 286500 --yes',
    input: z.strictObject({
      org_id,
      device_id,
      comparison_code: chosen(
        line(20),
        'The six digits that the new device shows, as its owner reads them out',
        { example: '286500' },
      ),
    }),
    data: deviceRecord,
  },
  refuseDevice: {
    route: 'POST /svc/v1/organizations/{org_id}/devices/{device_id}/refuse',
    cli: 'user devices refuse',
    effect: 'decides',
    scope: 'devices',
    summary: 'Refuse a pending device; it never becomes active',
    message: 'Device refused',
    example: '5 --org acme --yes',
    input: z.strictObject({ org_id, device_id }),
    data: deviceRecord,
  },
  getCeremony: {
    route: 'GET /svc/v1/approvals/{request_id}/ceremony',
    cli: 'approve ceremony',
    hidden: true,
    scope: ['ask', 'read'],
    summary: 'Get the bytes that the device of the approver signs',
    message: 'Ceremony',
    input: z.strictObject({
      request_id,
      credential: optional(
        line(1400),
        'Id of the credential that will sign; required if several people are asked',
      ),
    }),
    data: ceremony,
  },
  decideApproval: {
    route: 'POST /svc/v1/approvals/{request_id}/decide',
    cli: 'approve decide',
    hidden: true,
    open: true,
    summary: 'Approve or deny a request with a signature of the device',
    message: 'Decided',
    input: z.strictObject({
      request_id,
      decision: chosen(z.enum(['approve', 'deny']), 'Decision, and the context that was signed'),
      not_me: optional(z.boolean(), 'Denied because the approver did not expect it; mutes the requester'),
      note: optional(
        line(280),
        'With decision deny: a note for the requester, which is part of what the device signs',
        { example: 'Not during the release freeze' },
      ),
      grant: optional(
        z.literal(true),
        'With decision approve: also allow what the request offers as grant, which is part of what the device signs',
      ),
      number: optional(line(2), 'The number that the approver typed', { example: '42' }),
      location: optional(place, 'Location of the phone, for location rules'),
      response: chosen(webauthn, 'AuthenticationResponseJSON of WebAuthn'),
    }),
    data: approvalRecord,
  },
})

import * as z from 'zod/mini'
import { addedThings, with_added } from './added.ts'
import { shownMember } from './page.ts'
import { deviceRecord } from './device.ts'
import { chosen, id, line } from './field.ts'
import { operations } from './declaration.ts'
import { givesChallenge, signedChallenge, time } from './records.ts'

// Pending devices on the approver page, under /svc/v1/approver. They are not commands for people. spec: not shown

const pendingDevice = chosen(id, 'Id of the pending device')
const device_id = chosen(id, 'Device id')
const move = chosen(
  z.enum(['approve', 'refuse', 'remove', 'remove_last']),
  'The decision about the device; only remove_last removes the last active device of a person',
)

const added = chosen(
  z.array(z.extend(addedThings, { by: chosen(id, 'Device id') })),
  'What these devices added for their person and works now, without the signed-in device; a device that added nothing is left out',
)

export const pageDevices = operations({
  listOwnDevices: {
    route: 'GET /svc/v1/approver/devices',
    summary: 'List the devices of the signed-in person and, for an administrator, the pending recoveries',
    message: 'Devices',
    data: z.looseObject({
      device_id: chosen(id, 'Id of the signed-in device'),
      devices: chosen(z.array(deviceRecord), 'Devices of the person, oldest first'),
      added,
      recoveries: chosen(
        z.array(z.extend(deviceRecord, { member: chosen(shownMember, 'Owner of the device') })),
        'New devices of members who lost their last one; empty unless an administrator is signed in',
      ),
    }),
  },
  listMemberDevices: {
    route: 'GET /svc/v1/approver/members/{user_id}/devices',
    summary: 'List the devices of a member for an administrator',
    message: 'Devices',
    input: z.strictObject({ user_id: chosen(id, 'User id') }),
    data: z.looseObject({
      member: chosen(shownMember, 'The member'),
      devices: chosen(z.array(deviceRecord), 'Devices of the member, oldest first'),
      added,
    }),
  },
  renameOwnDevice: {
    route: 'POST /svc/v1/approver/devices/{device_id}/name',
    summary: 'Rename a device of the signed-in person',
    message: 'Device renamed',
    input: z.strictObject({ device_id, name: chosen(line(60), 'Name of the device') }),
    data: deviceRecord,
  },
  beginDeviceLink: {
    route: 'POST /svc/v1/approver/device-link/challenge',
    ...givesChallenge,
    summary: 'Get a challenge for adding another device of the signed-in person',
  },
  createDeviceLink: {
    route: 'POST /svc/v1/approver/device-link',
    summary:
      'Create a one-use link that registers another device of the signed-in person, signed by an active device; the new device is pending until an active one approves it',
    message: 'Link created',
    input: z.strictObject(signedChallenge),
    data: z.looseObject({
      url: chosen(z.string(), 'One-use link to the approver page', { secret: true }),
      expires_at: chosen(time, 'When it expires'),
      expires_in_ms: chosen(z.number(), 'Milliseconds left, by the clock of the service'),
    }),
  },
  beginDeviceMove: {
    route: 'POST /svc/v1/approver/devices/{device_id}/challenge',
    ...givesChallenge,
    summary: 'Get a challenge for approving, refusing or removing a device',
    input: z.strictObject({ device_id, move, with_added }),
  },
  moveDevice: {
    route: 'POST /svc/v1/approver/devices/{device_id}/move',
    equals: { approve: 'user devices approve' },
    summary:
      'Approve or refuse a pending device, or remove one, signed by an active device of the same person or by an administrator',
    message: 'Device changed',
    input: z.strictObject({ device_id, move, with_added, ...signedChallenge }),
    data: deviceRecord,
  },
  sendDeviceCode: {
    route: 'POST /svc/v1/approver/device-code',
    open: true,
    summary: 'Send a new code to the mobile number of a user whose first device requires one',
    message: 'Code sent',
    input: z.strictObject(signedChallenge),
    data: z.looseObject({
      expires_at: chosen(time, 'When the code expires'),
      sends_left: chosen(z.int(), 'Number of codes that can be sent now'),
      next_send_at: chosen(time, 'When the next code can be sent'),
    }),
  },
  beginDeviceRefusal: {
    route: 'POST /svc/v1/approver/device-refusal/challenge',
    open: true,
    ...givesChallenge,
    summary: 'Get a challenge for refusing a new device with an earlier device',
    input: z.strictObject({ device_id: pendingDevice }),
  },
  refuseNewDevice: {
    route: 'POST /svc/v1/approver/device-refusal',
    open: true,
    summary: 'Refuse a pending device, signed by another device of the same person, revoked or not',
    message: 'Device refused',
    input: z.strictObject({ device_id: pendingDevice, ...signedChallenge }),
    data: deviceRecord,
  },
})

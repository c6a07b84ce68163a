import * as z from 'zod/mini'
import { shownMember } from './approver.ts'
import { deviceRecord } from './device.ts'
import { chosen, id } from './field.ts'
import { operations } from './operation.ts'
import { challengeRecord, signedChallenge, time } from './records.ts'

// Pending devices on the approver page, under /svc/v1/approver. They are not commands for people. spec: not shown

const pendingDevice = chosen(id, 'Id of the pending device')
const move = chosen(z.enum(['approve', 'refuse']), 'The decision about the device')

export const approverDevices = operations({
  listOwnDevices: {
    method: 'GET',
    path: '/svc/v1/approver/devices',
    cli: 'approver devices',
    session: true,
    summary: 'List the devices of the signed-in person and, for an administrator, the pending recoveries',
    message: 'Devices',
    input: z.strictObject({}),
    data: z.looseObject({
      device_id: chosen(id, 'Id of the signed-in device'),
      devices: chosen(z.array(deviceRecord), 'Devices of the person, oldest first'),
      recoveries: chosen(
        z.array(z.extend(deviceRecord, { member: chosen(shownMember, 'Owner of the device') })),
        'New devices of members who lost their last one; empty unless an administrator is signed in',
      ),
    }),
  },
  beginDeviceMove: {
    method: 'POST',
    path: '/svc/v1/approver/devices/{device_id}/challenge',
    cli: 'approver device-challenge',
    session: true,
    effect: 'read',
    summary: 'Get a challenge for approving or refusing a pending device',
    message: 'Challenge',
    input: z.strictObject({ device_id: pendingDevice, move }),
    data: challengeRecord,
  },
  moveDevice: {
    method: 'POST',
    path: '/svc/v1/approver/devices/{device_id}/move',
    cli: 'approver device-move',
    session: true,
    summary:
      'Approve or refuse a pending device, signed by an active device of the same person or by an administrator',
    message: 'Device changed',
    input: z.strictObject({
      device_id: pendingDevice,
      move,
      ...signedChallenge,
    }),
    data: deviceRecord,
  },
  sendDeviceCode: {
    method: 'POST',
    path: '/svc/v1/approver/device-code',
    cli: 'approver device-code',
    hidden: true,
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
    method: 'POST',
    path: '/svc/v1/approver/device-refusal/challenge',
    cli: 'approver refusal-challenge',
    hidden: true,
    open: true,
    effect: 'read',
    summary: 'Get a challenge for refusing a new device with an earlier device',
    message: 'Challenge',
    input: z.strictObject({ device_id: pendingDevice }),
    data: challengeRecord,
  },
  refuseNewDevice: {
    method: 'POST',
    path: '/svc/v1/approver/device-refusal',
    cli: 'approver refusal',
    hidden: true,
    open: true,
    summary: 'Refuse a pending device, signed by another device of the same person, revoked or not',
    message: 'Device refused',
    input: z.strictObject({
      device_id: pendingDevice,
      ...signedChallenge,
    }),
    data: deviceRecord,
  },
})

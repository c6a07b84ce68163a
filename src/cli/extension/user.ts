import { device } from '../../contract/device.ts'
import { enrollment } from '../approve/enroll.ts'
import type { Extensions } from '../operation/operation-command.ts'
import { deviceRevocation } from './device.ts'

/** `svc user enroll` and `svc user devices revoke`. */
export const userExtensions: Extensions = new Map([...enrollment, [device.revokeDevice, deviceRevocation]])

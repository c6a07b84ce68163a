import type { iot } from '../../contract/iot.ts'
import type { Handlers } from '../call.ts'

export const iotHandlers: Handlers<typeof iot> = {}

import type { limits } from '../../contract/limits.ts'
import type { Handlers } from '../call/call.ts'
import { getLimits, setLimits } from '../limits/values.ts'

export const limitHandlers: Handlers<typeof limits> = {
  getLimits,
  setLimits,
}

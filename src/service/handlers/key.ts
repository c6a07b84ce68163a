import type { key } from '../../contract/key.ts'
import { revokeKey } from '../approvals/key-revocation.ts'
import type { Handlers } from '../call/call.ts'
import { createKey, getKey, listKeys, rotateKey, whoAmI } from '../keys/keys.ts'

export const keyHandlers: Handlers<typeof key> = {
  whoAmI,
  listKeys,
  getKey,
  createKey,
  rotateKey,
  revokeKey,
}

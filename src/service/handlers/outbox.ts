import type { outbox } from '../../contract/outbox.ts'
import type { Handlers } from '../call/call.ts'
import { getMessage, listChannels, listOutbox, retryMessage } from '../delivery/messages.ts'
import { testDelivery } from '../push/test-delivery.ts'

export const outboxHandlers: Handlers<typeof outbox> = {
  listOutbox,
  listChannels,
  getMessage,
  retryMessage,
  testDelivery,
}

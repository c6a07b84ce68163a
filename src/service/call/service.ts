import type { RulesMemory } from '../policy/rules-memory.ts'
import type { Waiting } from '../approvals/waiting.ts'
import type { Channel } from '../delivery/message.ts'
import type { Keyring } from '../custody/keyring.ts'
import type { Periods } from '../config/retention.ts'
import type { Quotes } from '../machines/quotes/quotes.ts'
import type { Claim } from '../limits/claims.ts'
import type { Rate } from '../limits/request-rate.ts'
import type { Ring } from '../lifecycle/ringer.ts'
import type { Storage } from '../storage/storage.ts'

/** What lives as long as the service does. */
export type Service = {
  storage: Storage
  keyring: Keyring
  /** Where people and clients reach the service, without a slash at the end. */
  publicUrl: string
  /** `svc serve --dev`: software authenticators count. */
  dev: boolean
  /** What a first device proves where its organization does not say. */
  deviceProof: 'link' | 'otp'
  waiting: Waiting
  rulesFor: RulesMemory
  /** How long what is kept. */
  periods: Periods
  /** Counts against the quotas of organizations. */
  claim: Claim
  /** Counts the requests of callers. */
  rate: Rate
  ring: Ring
  /** Stock prices; asked outside of transactions. */
  quotes: Quotes
  /** By what messages go out. */
  channels: ReadonlySet<Channel>
  /** Looks into the outbox now: something was put there and is committed. */
  deliver(): void
  /** Where `/contact/support` goes. */
  supportEmail?: string
  /** VAPID, base64url; null where nothing is pushed. */
  pushKey: string | null
}

import type { RotatedMasterKey } from '../custody/rotate-master-key.ts'
import type { RotatedSigningKey } from '../custody/signing-keys.ts'
import type { ReplacedKeys } from './operator-keys.ts'
import type { Returned } from './restored.ts'

/** What `svc service` does with a store. Each `check` throws an SvcError if the work is not possible, and changes nothing. */
export type Maintenance = {
  /** Where the store is, as an output shows it. */
  place: { data_dir: string } | { database: string }
  checkBackup(file: string): Promise<void>
  backup(file: string): Promise<void>
  checkRestore(file: string): Promise<void>
  restore(file: string): Promise<Returned>
  plannedUpgrade(): Promise<{ from: number; to: number }>
  /** Undefined if the store was up to date. */
  migrate(): Promise<{ from: number; to: number; copy?: string } | undefined>
  checkSettle(): Promise<void>
  /** Makes a store safe that was put back to an earlier time without `restore`. */
  settle(): Promise<Returned>
  checkReset(): Promise<void>
  /** Revokes every operator key and creates a new one, in case the last one is lost. Requires the master key. */
  resetOperatorKey(): Promise<ReplacedKeys>
  checkRotation(): Promise<void>
  /** Retires the signing key and creates another, whether the service runs or not. With `from`, only if that key is active. */
  rotateSigningKey(from?: string): Promise<RotatedSigningKey>
  checkMasterKeyRotation(): Promise<void>
  /** Replaces the master key by `newKey`, or else by a generated one in the key file. */
  rotateMasterKey(newKey?: string): Promise<RotatedMasterKey>
}

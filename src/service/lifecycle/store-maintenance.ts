import type { Env } from '../../core/env.ts'
import type { RotatedMasterKey } from '../custody/rotate-master-key.ts'
import type { RotatedSigningKey } from '../custody/signing-keys.ts'
import type { ReplacedKeys } from './operator-keys.ts'
import type { Returned } from './restored.ts'

type Notify = (message: string) => void

/** What `svc service` does with a store. Each `check` throws an SvcError if the work is not possible, and changes nothing. */
export type Maintenance = {
  /** Where the store is, as an output shows it. */
  place: { data_dir: string } | { database: string }
  checkBackup(file: string): Promise<void>
  backup(file: string): Promise<void>
  checkRestore(file: string, env: Env): Promise<void>
  restore(file: string, env: Env, notify: Notify): Promise<Returned>
  plannedUpgrade(): Promise<{ from: number; to: number }>
  /** Undefined if the store was up to date. */
  migrate(): Promise<{ from: number; to: number; copy?: string } | undefined>
  checkSettle(): Promise<void>
  /** Makes a store safe that was put back to an earlier time without `restore`. */
  settle(notify: Notify): Promise<Returned>
  checkReset(): Promise<void>
  resetOperatorKey(env: Env, notify: Notify): Promise<ReplacedKeys>
  checkRotation(): Promise<void>
  rotateSigningKey(
    env: Env,
    options: { from?: string | undefined; notify: Notify },
  ): Promise<RotatedSigningKey>
  checkMasterKeyRotation(): Promise<void>
  rotateMasterKey(
    env: Env,
    options: { newKey?: string | undefined; notify: Notify },
  ): Promise<RotatedMasterKey>
}

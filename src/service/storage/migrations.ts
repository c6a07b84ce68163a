import { failure } from '../../core/errors.ts'
import * as administration from './migrations/0001-administration.ts'
import * as approvals from './migrations/0002-approvals.ts'
import * as approver from './migrations/0003-approver.ts'
import * as verifications from './migrations/0004-verifications.ts'
import * as ruling from './migrations/0005-ruling.ts'
import * as mobile from './migrations/0006-mobile.ts'
import * as machines from './migrations/0007-machines.ts'
import * as outbox from './migrations/0008-outbox.ts'
import * as keyLineage from './migrations/0009-key-lineage.ts'
import * as byTime from './migrations/0010-by-time.ts'
import * as verifiedRequester from './migrations/0011-verified-requester.ts'
import * as deviceId from './migrations/0012-device-id.ts'
import * as nationalNumber from './migrations/0013-national-number.ts'
import * as scopes from './migrations/0014-scopes.ts'
import * as deviceStates from './migrations/0015-device-states.ts'
import * as subjects from './migrations/0016-subjects.ts'
import * as requiredApproval from './migrations/0017-required-approval.ts'
import * as custody from './migrations/0018-custody.ts'
import * as quotas from './migrations/0019-quotas.ts'
import * as registrations from './migrations/0020-registrations.ts'
import * as schemaVersion from './migrations/0021-schema-version.ts'
import * as nodes from './migrations/0022-nodes.ts'
import * as note from './migrations/0023-note.ts'
import * as agents from './migrations/0024-agents.ts'
import * as webhooks from './migrations/0025-webhooks.ts'
import * as devicePush from './migrations/0026-device-push.ts'
import * as askedFrom from './migrations/0028-asked-from.ts'
import * as ownDevices from './migrations/0029-own-devices.ts'
import * as logos from './migrations/0032-logos.ts'
import * as keyOwner from './migrations/0034-key-owner.ts'
import * as decisionDigest from './migrations/0040-decision-digest.ts'
import * as origin from './migrations/0035-origin.ts'
import * as oneUseRows from './migrations/0041-one-use-rows.ts'
import * as approvedBy from './migrations/0042-approved-by.ts'
import * as defaultFactors from './migrations/0043-default-factors.ts'
import * as approvalIds from './migrations/0044-approval-ids.ts'
import type { Db } from './schema.ts'

/** Forward only: a released migration never changes; add the next one at the end. */
export const migrations: { name: string; up(db: Db): Promise<void> }[] = [
  { name: '0001-administration', up: administration.up },
  { name: '0002-approvals', up: approvals.up },
  { name: '0003-approver', up: approver.up },
  { name: '0004-verifications', up: verifications.up },
  { name: '0005-ruling', up: ruling.up },
  { name: '0006-mobile', up: mobile.up },
  { name: '0007-machines', up: machines.up },
  { name: '0008-outbox', up: outbox.up },
  { name: '0009-key-lineage', up: keyLineage.up },
  { name: '0010-by-time', up: byTime.up },
  { name: '0011-verified-requester', up: verifiedRequester.up },
  { name: '0012-device-id', up: deviceId.up },
  { name: '0013-national-number', up: nationalNumber.up },
  { name: '0014-scopes', up: scopes.up },
  { name: '0015-device-states', up: deviceStates.up },
  { name: '0016-subjects', up: subjects.up },
  { name: '0017-required-approval', up: requiredApproval.up },
  { name: '0018-custody', up: custody.up },
  { name: '0019-quotas', up: quotas.up },
  { name: '0020-registrations', up: registrations.up },
  { name: '0021-schema-version', up: schemaVersion.up },
  { name: '0022-nodes', up: nodes.up },
  { name: '0023-note', up: note.up },
  { name: '0024-agents', up: agents.up },
  { name: '0025-webhooks', up: webhooks.up },
  { name: '0026-device-push', up: devicePush.up },
  { name: '0028-asked-from', up: askedFrom.up },
  { name: '0029-own-devices', up: ownDevices.up },
  { name: '0032-logos', up: logos.up },
  { name: '0034-key-owner', up: keyOwner.up },
  { name: '0040-decision-digest', up: decisionDigest.up },
  { name: '0035-origin', up: origin.up },
  { name: '0041-one-use-rows', up: oneUseRows.up },
  { name: '0042-approved-by', up: approvedBy.up },
  { name: '0043-default-factors', up: defaultFactors.up },
  { name: '0044-approval-ids', up: approvalIds.up },
]

export const newestVersion = migrations.length

export const refuseNewer = (version: number): void => {
  if (version <= newestVersion) return
  throw failure(
    'store_too_new',
    `A newer svc wrote this store: it has schema ${version}, and this svc knows schemas up to ${newestVersion}`,
    'Install the newer svc again, or restore the copy from before the upgrade: svc service restore COPY.db --data-dir NEWFOLDER',
  )
}

/** Runs the migrations after schema `from`, inside a transaction. Throws an SvcError if a newer svc wrote the store. */
export const applyMigrations = async (db: Db, from: number): Promise<void> => {
  refuseNewer(from)
  for (const migration of migrations.slice(from)) await migration.up(db)
  await db.deleteFrom('schema_version').execute()
  await db.insertInto('schema_version').values({ version: newestVersion }).execute()
}

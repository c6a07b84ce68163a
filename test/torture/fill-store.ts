import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { auditHash } from '../../src/receipt/chain.ts'
import { createMasterKeys } from '../../src/service/custody/wrapping.ts'

type Fill = { org: number; rows: number; users: number }
type End = { seq: number; hash: string; at: string }

const actions = ['createUser', 'updateUser', 'createGeofence', 'createApproval', 'decideApproval']

/** Adds audit rows to the chain of an organization, and users to it, in the store of a service that is stopped. */
export const fillStore = (dataDir: string, { org, rows, users }: Fill): void => {
  const db = new Database(join(dataDir, 'svc.db'))
  db.exec('PRAGMA synchronous = OFF')
  db.exec('BEGIN')
  let { seq, hash, at } = db
    .prepare('SELECT seq, hash, at FROM audit WHERE org_id = ? ORDER BY seq DESC LIMIT 1')
    .get([org]) as End
  const keys = createMasterKeys(Buffer.from(readFileSync(join(dataDir, 'master.key'), 'utf8'), 'base64'))
  const addRow = db.prepare('INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  let ms = Date.parse(at)
  for (let i = 0; i < rows; i++) {
    seq += 1
    at = new Date((ms += 5)).toISOString()
    const row = {
      org_id: org,
      seq,
      at,
      actor: `terminal ${i % 7} (key ${i % 7})`,
      action: actions[i % actions.length]!,
      subject: `user:${(i * 7919) % 100_000}`,
      changes: ['email', 'first_name'],
      request_id: `req_${randomBytes(18).toString('hex')}`,
      rules: 0,
      newest_key: 0,
      newest_user: 0,
      newest_device: 0,
      prev_hash: hash,
    }
    hash = auditHash(row)
    const { actor, action, subject, changes, request_id, prev_hash } = row
    addRow.run([
      org,
      seq,
      at,
      actor,
      action,
      subject,
      JSON.stringify(changes),
      request_id,
      0,
      0,
      0,
      0,
      prev_hash,
      hash,
      keys.macOf('audit', { ...row, hash }),
    ])
  }
  const addPerson = db.prepare(
    'INSERT INTO people (id, mobile, national, country_code, created_at, row_mac) VALUES (?, ?, ?, ?, ?, ?)',
  )
  let { id } = db.prepare('SELECT coalesce(max(id), 0) AS id FROM people').get([]) as { id: number }
  const addMember = db.prepare(
    `INSERT INTO memberships (org_id, user_id, email, first_name, last_name, look_alike, role, state, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, '', 'member', ?, ?, ?)`,
  )
  for (let i = 0; i < users; i++) {
    const national = String(2_000_000_000 + i)
    const person = { id: ++id, mobile: `+1${national}`, national, country_code: '+1', created_at: at }
    const mac = keys.macOf('people', person)
    addPerson.run([id, person.mobile, national, '+1', at, mac])
    const state = i % 10 === 0 ? 'pending' : 'active'
    addMember.run([org, id, `person${i}@acme.example`, 'Ada', `Lovelace ${i}`, state, at, at])
  }
  db.exec('COMMIT')
  db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([])
  db.close()
}

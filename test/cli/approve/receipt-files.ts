import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import canonicalize from 'canonicalize'
import { afterAll, beforeAll } from 'vitest'
import { sha256 } from '../../../src/core/ids.ts'
import { digestOf } from '../../../src/receipt/subject.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { approval, approverKey, createIssuer, device, now, specimen } from '../../receipt/specimen.ts'
import { genuineSet } from '../../receipt/set-specimen.ts'
import { svc } from '../svc.ts'

// Receipts as files, and `svc approve verify` of them without a service.

let folder: ReturnType<typeof temporaryFolder>
export const key = approverKey()
export const rule = { name: 'destroy', match: { type: 'command', argv: ['terraform', '**'] }, who: ['@dba'] }
const write = (name: string, value: unknown): void =>
  writeFileSync(join(folder.path, name), typeof value === 'string' ? value : JSON.stringify(value))

const rowsOf = (all: object[]) =>
  all.map((data, row_index) => ({ row_index, summary: 'x', data, digest: 'not believed', used_at: null }))

/** Writes the files of each test. */
export const installFiles = (): void => {
  beforeAll(async () => {
    folder = temporaryFolder()
    const issuer = await createIssuer()
    const receipt = await specimen(issuer, approval, key)
    write('keys.json', issuer.jwks)
    write('other-keys.json', (await createIssuer()).jwks)
    write('receipt.json', receipt)
    write('bare.jws', `${receipt.jws}\n`)
    const globex = { id: '8', slug: 'globex' }
    write('globex.jws', (await specimen(issuer, { ...approval, organization: globex }, key)).jws)
    write('status.json', { request_id: approval.request_id, status: 'approved', attestation: receipt })
    write('pending.json', { request_id: approval.request_id, status: 'pending', attestation: null })
    const set = await genuineSet(issuer)
    write('set.json', set)
    write('set-status.json', { request_id: approval.request_id, status: 'approved', attestation: set })
    const ofRule = {
      people: ['5'],
      need: 1,
      group: { id: '2', name: 'dba' },
      rules: ['destroy'],
      separated: true,
    }
    const rules = [{ name: 'destroy', digest: sha256(canonicalize(rule)!) }]
    write('ruled.json', await specimen(issuer, { ...approval, lines: [ofRule], rules }, key))
    write('rule.json', { ...rule, org_id: 1, digest: 'not believed', created_at: '2030-01-31T12:00:00.000Z' })
    write('rule.yaml', 'name: destroy\nmatch: {type: command, argv: [terraform, "**"]}\nwho: ["@dba"]\n')
    write('other-rule.yaml', 'name: destroy\nmatch: {type: command}\nwho: ["@dba"]\n')
    write('bad-rule.yaml', 'name: destroy\nmatch: {type: command}\nwhom: ["@dba"]\n')
    write('org.yaml', 'svc: 1\norganization: {slug: acme, name: Acme}\nrules: []\n')
    write('one-of-three.json', set.receipts[0])
    write('incomplete.json', { ...set, receipts: set.receipts.slice(1) })
    write('forged.json', { ...receipt, claims: { ...receipt.claims, action: 'Delete everything' } })
    write('denied.json', await specimen(issuer, { ...approval, decision: 'deny' }, key))
    write('dev.json', await specimen(issuer, approval, key, { dev: true }))
    write('influential.json', await specimen(issuer, approval, key, { influences: true }))
    for (const relation of ['creator', 'unknown', 'self'] as const) {
      const related = { ...device, enrolled_by: { ...device.enrolled_by, relation } }
      write(`${relation}.json`, await specimen(issuer, approval, key, { device: related }))
    }
    const local = { id: '0', name: 'unauthenticated local program', scopes: ['ask'] }
    write('local.json', await specimen(issuer, { ...approval, key: local }, key))
    write('subject.json', { type: 'text', data: { text: approval.action } })
    write('record-subject.json', {
      type: 'text',
      data: { text: approval.action },
      digest: approval.subject.digest,
      summary: approval.action,
      fields: [],
    })
    const datas = [{ operation: 'createUser' }, { operation: 'removeUser' }]
    write('rows.json', rowsOf(datas))
    write('changed-rows.json', rowsOf([datas[0]!, { operation: 'deleteUser' }]))
    write('some-rows.json', rowsOf(datas).slice(1))
    const file = { name: 'list of 2 changes', sha256: digestOf(datas.map((data) => digestOf(data))) }
    const data = { organization: null, operation: 'batch', body: {}, file }
    write('list.json', await specimen(issuer, approval, key, { subject: { type: 'request', data } }))
    write('other-subject.json', { type: 'text', data: { text: 'Delete everything' } })
    write('bad-subject.json', { type: 'text', data: { text: 'x' }, digest: 'a'.repeat(64) })
    write('named-keys.json', { ...issuer.jwks, issuer: 'https://approve.example.com' })
    mkdirSync(join(folder.path, 'no-profile'))
  })
  afterAll(() => folder.remove())
}

export const verify = (args: string[], stdin = '') => {
  const env = { SVC_CONFIG_DIR: join(folder.path, 'no-profile') }
  return svc(['approve', 'verify', ...args], { cwd: folder.path, stdin, env, now: () => now })
}
export const ours = ['--org', 'acme', '--issuer', 'https://approve.example.com']
/** Without the flags of ours that are typed anew. */
export const offline = (...args: string[]) => {
  const own = ours.filter((word, i) => !args.includes(i % 2 === 0 ? word : ours[i - 1]!))
  return verify([...own, ...args, '--jwks', join(folder.path, 'keys.json')])
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import type { Keyring } from '../../src/service/call/keyring.ts'
import { findAlteredRows } from '../../src/service/custody/altered-rows.ts'
import { openKeyring } from '../../src/service/custody/create-keyring.ts'
import { pendingKeyFile } from '../../src/service/custody/master-key.ts'
import { createAuthenticator } from '../../src/service/keys/authenticator.ts'
import { openSqlite } from '../../src/service/storage/sqlite/open.ts'
import type { Storage } from '../../src/service/storage/storage.ts'
import { bin, startService } from '../e2e/processes.ts'
import { fill, leaveIn, openAll } from '../service/custody/kept-values.ts'
import { startTestService } from '../service/harness.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { call } from './requests.ts'
import type { Result, Torture } from './torture.ts'

const kills = 20
const messages = 4000
const preload = fileURLToPath(new URL('./killed-at.cjs', import.meta.url))

type Seen = {
  dataDir: string
  key: string
  values: Map<string, string | undefined>
  /** Tokens that the service signed, all of which must verify forever. */
  signed: string[]
  hits: Record<string, number>
  failures: number
  examples: string[]
}

const wrong = (seen: Seen, what: string): void => {
  seen.failures++
  if (seen.examples.length < 5) seen.examples.push(what)
}

/** Enough messages that a rotation takes long enough to be killed in progress. */
const fillOutbox = (storage: Storage, keyring: Keyring, org_id: number): Promise<void> =>
  storage.write(
    async (db) => {
      const now = storage.now()
      const times = { next_at: now, created_at: now, updated_at: now }
      for (let i = 0; i < messages; i++) {
        const message_id = `msg_${i}`
        const wrapped = keyring.wrap(`message ${i}`, `outbox:${message_id}`)
        const row = { org_id, message_id, channel: 'email', kind: 'notice', recipient: 'a', wrapped } as const
        await db
          .insertInto('outbox')
          .values({ ...row, state: 'dead', attempts: 1, ...times })
          .execute()
      }
    },
    { org: 0 },
  )

const prepare = async (dataDir: string): Promise<Seen> => {
  const service = await startTestService({ dev: true })
  const { org } = await fill(service)
  await fillOutbox(service.storage, service.keyring, org)
  const values = await openAll(service.storage, service.keyring)
  const key = service.operatorKey
  await leaveIn(service, dataDir)
  return { dataDir, key, values, signed: [], hits: {}, failures: 0, examples: [] }
}

/** Runs a rotation. Returns whether it ended before it was killed. */
const rotate = async (
  { dataDir }: Seen,
  which: 'master' | 'signing',
  { killAfterMs, at }: { killAfterMs?: number; at?: string } = {},
): Promise<{ ended: boolean; ms: number }> => {
  const started = performance.now()
  const child = spawn(
    process.execPath,
    [...(at ? ['--require', preload] : []), bin, 'service', `rotate-${which}-key`, '--data-dir', dataDir],
    { env: { PATH: process.env.PATH, HOME: dataDir, ...(at && { KILLED_AT: at }) }, stdio: 'ignore' },
  )
  if (killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  const [exit] = (await once(child, 'exit')) as [number | null]
  return { ended: exit === 0, ms: performance.now() - started }
}

/** Everything is still readable, every row is authentic, one key signs, and every earlier signature verifies. */
const check = async (seen: Seen, after: string): Promise<void> => {
  const storage = await openSqlite({ path: join(seen.dataDir, 'svc.db') })
  try {
    const keyring = await openKeyring(storage, seen.dataDir, {})
    const now = await openAll(storage, keyring)
    for (const [context, plain] of seen.values)
      // A signing key is rotated, and the marker is new.
      if (context !== 'custody' && now.get(context) !== plain) wrong(seen, `${after}: lost ${context}`)
    if ([...now.values()].includes(undefined)) wrong(seen, `${after}: a value cannot be opened`)
    const altered = await findAlteredRows({ storage, keyring })
    if (altered.length > 0) wrong(seen, `${after}: ${altered.length} rows are not authentic`)
    const active = await storage.read((db) =>
      db.selectFrom('signing_keys').where('retired_at', 'is', null).select('kid').execute(),
    )
    if (active.length !== 1) wrong(seen, `${after}: ${active.length} keys sign`)
    if (!(await createAuthenticator({ storage, keyring })(seen.key))) wrong(seen, `${after}: the key is lost`)
    seen.signed.push(await keyring.sign({ after }, 'torture+jwt'))
    const jwks = createLocalJWKSet((await keyring.jwks()) as unknown as JSONWebKeySet)
    for (const jws of seen.signed)
      await jwtVerify(jws, jwks).catch(() => wrong(seen, `${after}: an old signature does not verify`))
  } catch (error) {
    wrong(seen, `${after}: ${(error as Error).message}`)
  } finally {
    await storage.close()
  }
}

const count = (seen: Seen, hit: string): void => {
  seen.hits[hit] = (seen.hits[hit] ?? 0) + 1
}

/** About a third of a command is its start, so it is killed after that. A rotation that ended before does not count. */
const killAtRandom = async (seen: Seen, which: 'master' | 'signing', times: number): Promise<void> => {
  const { ms } = await rotate(seen, which)
  await check(seen, `rotate-${which}-key`)
  for (let killed = 0; killed < times;) {
    const killAfterMs = ms * (0.3 + Math.random() * 0.7)
    const { ended } = await rotate(seen, which, { killAfterMs })
    count(seen, ended ? `${which}: ended before its kill` : `${which}: killed`)
    if (existsSync(pendingKeyFile(seen.dataDir))) count(seen, 'master: left two keys')
    if (!ended) killed++
    await check(seen, `rotate-${which}-key killed after ${Math.round(killAfterMs)} ms`)
  }
}

/** Between any two steps of a rotation of the master key. */
const points = ['writeFileSync before', 'writeFileSync after', 'renameSync before', 'renameSync after']

const killAtPoints = async (seen: Seen): Promise<void> => {
  for (const at of points) {
    const { ended } = await rotate(seen, 'master', { at })
    if (ended) wrong(seen, `${at}: the rotation was not killed`)
    count(seen, 'master: killed between two steps')
    await check(seen, `rotate-master-key killed ${at}`)
  }
}

/** The broken variant forgets the next key, like a rotation that replaces the key file after the store without keeping both. */
const withoutPendingKey = async (seen: Seen): Promise<number> => {
  const before = seen.failures
  await rotate(seen, 'master', { at: 'renameSync before' })
  rmSync(pendingKeyFile(seen.dataDir))
  await check(seen, 'without the next key')
  return seen.failures - before
}

export const torture: Torture = {
  name: 'kill -9 while the signing key and the master key are rotated',
  must: '0 values, keys or receipts lost',
  run: async (): Promise<Result> => {
    const folder = temporaryFolder()
    try {
      const seen = await prepare(join(folder.path, 'data'))
      await check(seen, 'at first')
      await killAtRandom(seen, 'master', kills / 2)
      await killAtPoints(seen)
      // The signing key is rotated under a running service.
      const service = await startService(seen.dataDir, seen.key)
      await killAtRandom(seen, 'signing', kills / 2)
      const { body } = await call(service.baseUrl, 'getAuditHead', seen.key, {})
      seen.signed.push((body.data as { jws: string }).jws)
      await service.stop()
      await check(seen, 'at last')
      const { failures, hits, examples } = seen
      const honest = { count: kills + points.length, failures, hits: { ...hits }, examples: [...examples] }
      return { ...honest, control: await withoutPendingKey(seen) }
    } finally {
      folder.remove()
    }
  },
}

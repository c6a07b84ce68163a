import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asUser, type PostgresServer, startPostgres } from '../service/storage/postgres-server.ts'
import { svc } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { type Node, operator, startNode } from './nodes.ts'

/** Only root can mount a small disk, and not in every container. */
const canMount = spawnSync('unshare', ['--mount', 'true']).status === 0

const { path, remove } = temporaryFolder()
const disk = join(path, 'disk')
const filler = join(disk, 'filler')
let server: PostgresServer
let node: Node

const sql = async (database: string, ...statements: string[]): Promise<void> => {
  const client = new pg.Client({ connectionString: server.url(database) })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

const readiness = async (): Promise<number> => (await fetch(`${node.origin}/health/ready`)).status

const createOrganization = async (name: string) => {
  const answer = await fetch(`${node.origin}/admin/public/api/organization/create`, {
    method: 'POST',
    headers: { 'x-api-key': operator, 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  })
  return { status: answer.status, body: (await answer.json()) as { data: { code?: string } } }
}

describe.runIf(canMount)('the disk of the audit in PostgreSQL', () => {
  beforeAll(async () => {
    server = await startPostgres({ durable: true })
    // PostgreSQL has to reach the disk.
    chmodSync(path, 0o711)
    mkdirSync(disk)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'svc-test', disk])
    chownSync(disk, asUser.uid!, asUser.gid!)
    await sql('postgres', 'create database svc', `create tablespace small location '${disk}'`)
    node = await startNode(server.url('svc'), ['--drain', '0', '--metrics-port', '0'])
    await sql('svc', 'alter table audit set tablespace small')
  })
  afterAll(async () => {
    await node?.stop('SIGKILL')
    server?.stop()
    execFileSync('umount', ['-l', disk])
    remove()
  })

  test('is full: the node is not ready, every write is 503, and both are over when there is room', async () => {
    const { bavail, bsize } = statfsSync(disk)
    writeFileSync(filler, Buffer.alloc((bavail - 1) * bsize))
    const statuses = new Map<string, number>()
    const note = (said: string): void => void statuses.set(said, (statuses.get(said) ?? 0) + 1)
    const write = async (worker: number): Promise<void> => {
      for (let n = 0; n < 10; n += 1) {
        const { status, body } = await createOrganization(`Full ${worker} ${n}`)
        note(`${status} ${body.data.code ?? ''}`)
      }
    }
    await Promise.all(Array.from({ length: 10 }, (_, worker) => write(worker)))
    expect([...statuses.keys()].filter((said) => !/^(?:200|201) $/.test(said))).toEqual([
      '503 storage_unavailable',
    ])
    expect(statuses.get('503 storage_unavailable')).toBeGreaterThan(50)
    expect(await readiness()).toBe(503)
    const doctor = await svc('doctor', {
      SVC_BASE_URL: `${node.origin}/admin/public/api`,
      SVC_API_KEY: operator,
      SVC_CONFIG_DIR: path,
      SVC_DATABASE_URL: server.url('svc'),
    })
    expect(doctor.exit).toBe(1)
    expect(doctor.stdout).toMatch(/^fail +service +\S+ reports that it is not healthy/m)
    expect(doctor.stdout).toMatch(/^fail +database +The disk of the database at \S+ is full/m)
    rmSync(filler)
    await expect.poll(readiness, { timeout: 20_000 }).toBe(200)
    await expect.poll(async () => (await createOrganization('Room')).status).toBeLessThan(300)
  })
})

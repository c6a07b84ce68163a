import type { Env } from '../../core/env.ts'
import { failure } from '../../core/errors.ts'
import { type ChainPlace, type ChainRow, verifyChain } from '../../receipt/chain.ts'
import { openKeyring } from '../custody/create-keyring.ts'
import type { Db } from '../storage/schema.ts'
import * as database from '../storage/postgres/whole.ts'
import * as embedded from '../storage/sqlite/whole.ts'
import { useStorage } from '../storage/storage.ts'
import { copyStore, readPages, sumStore, type TableSum } from '../storage/whole-store.ts'
import { lockDataDir, requireStore, storeFile } from './data-dir.ts'
import { asOwner } from './as-owner.ts'
import { requireIdle } from './folder-maintenance.ts'
import { openStore } from './open-store.ts'
import { markMoved } from './moved.ts'
import { nameOfPlace } from './place.ts'

export type Move = { tables: number; rows: number; chains: number; state: 'moved' | 'finished' }

/** Verifies the audit of every organization; returns how many there are. */
const verifyChains = async (db: Db): Promise<number> => {
  const ends = new Map<number, ChainPlace>()
  for await (const rows of readPages(db, 'audit'))
    for (const { changes, row_mac: _, ...row } of rows) {
      const entry = { ...row, changes: JSON.parse(String(changes)) } as ChainRow
      const check = verifyChain([entry], ends.get(entry.org_id))
      if (!check.ok)
        throw failure(
          'audit_broken',
          `The audit of organization ${entry.org_id} is not intact: ${check.reason}. Nothing was moved`,
          'svc audit verify shows it with the service running. Restore a backup that is intact',
        )
      ends.set(entry.org_id, check)
    }
  return ends.size
}

const totalOf = (sums: TableSum[]): number => sums.reduce((total, { rows }) => total + rows, 0)

/** Throws an SvcError if the move is not possible; returns the number of rows. Changes nothing. */
export const checkMove = (dataDir: string, url: string): Promise<{ rows: number }> =>
  asOwner(dataDir, async () => {
    requireIdle(dataDir)
    await database.checkEmpty(url)
    return { rows: totalOf(await embedded.readWhole(storeFile(dataDir), sumStore)) }
  })

const isCopied = async (dataDir: string, url: string): Promise<boolean> => {
  const sums = [
    await embedded.readWhole(storeFile(dataDir), sumStore),
    await database.readWhole(url, sumStore),
  ]
  return JSON.stringify(sums[0]) === JSON.stringify(sums[1])
}

const move = async (
  dataDir: string,
  url: string,
  env: Env,
  report: (line: string) => void,
): Promise<Move> => {
  requireStore(dataDir)
  const lock = lockDataDir(dataDir)
  try {
    // Upgrades an older store and finishes a rotation of its key, and refuses one that was moved.
    await useStorage(await openStore(dataDir, report), (storage) => openKeyring(storage, dataDir, env))
    const { version } = await database.inspectDatabase(url)
    const before = version > 0 && (await isCopied(dataDir, url))
    const from = storeFile(dataDir)
    const { sums, chains } = before
      ? await database.readWhole(url, async (copy) => ({
          sums: await sumStore(copy),
          chains: await verifyChains(copy.db),
        }))
      : await embedded.readWhole(from, (source) =>
          database.createWhole(url, async (copy) => ({
            sums: await copyStore(source, copy, ({ table, rows }) =>
              report(`${table}: ${rows} ${rows === 1 ? 'row' : 'rows'}`),
            ),
            chains: await verifyChains(copy.db),
          })),
        )
    await markMoved(from, nameOfPlace({ databaseUrl: url }))
    return { tables: sums.length, rows: totalOf(sums), chains, state: before ? 'finished' : 'moved' }
  } finally {
    lock.release()
  }
}

/**
 * Moves the store of a folder into an empty database, in one transaction of the database: an interrupted move leaves nothing
 * there, and the folder as it was. Afterwards the folder is marked, and no service starts on it. If the process ended between
 * the two, a second move finds its copy and only marks the folder.
 */
export const moveToDatabase: typeof move = (dataDir, ...rest) =>
  asOwner(dataDir, () => move(dataDir, ...rest))

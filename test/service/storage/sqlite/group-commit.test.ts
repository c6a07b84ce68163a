import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { openConnection } from '../../../../src/service/storage/sqlite/connection.ts'
import { createGroupCommit } from '../../../../src/service/storage/sqlite/group-commit.ts'
import { temporaryFolder } from '../../../temporary-folder.ts'

const cleanups: (() => void)[] = []
afterEach(() => {
  for (const cleanup of cleanups.splice(0).toReversed()) cleanup()
})

const open = () => {
  const { path, remove } = temporaryFolder()
  const connection = openConnection(join(path, 'test.db'))
  connection.exec('CREATE TABLE row (name TEXT NOT NULL)')
  cleanups.push(remove, () => connection.close())
  return { connection, commits: createGroupCommit(connection) }
}

/** Longer than a batch goes on. */
const occupy = (): void => {
  const end = performance.now() + 30
  while (performance.now() < end);
}

const refuse = (sql: string): void => {
  throw new Error(`no ${sql}`)
}

describe('writes that wait', () => {
  test('are done one of each organization in turn, and in the order of each', async () => {
    const { commits } = open()
    const done: string[] = []
    const write = (org: number, name: string) => commits.run(async () => void done.push(name), org)
    const names = Array.from({ length: 100 }, (_, n) => `a${n}`)
    await Promise.all([...names.map((name) => write(1, name)), write(2, 'b0'), write(2, 'b1')])
    expect(done.slice(0, 5)).toEqual(['a0', 'b0', 'a1', 'b1', 'a2'])
    expect(done.filter((name) => name.startsWith('a'))).toEqual(names)
  })

  test('leave room for everything else between those that take long', async () => {
    const { commits } = open()
    let turns = 0
    let left = 10
    const tick = (): void => {
      turns += 1
      if (left > 0) setImmediate(tick)
    }
    setImmediate(tick)
    const long = async (): Promise<void> => {
      occupy()
      left -= 1
    }
    await Promise.all(Array.from({ length: left }, () => commits.run(long, 1)))
    expect(turns).toBeGreaterThanOrEqual(10)
  })

  test('are all kept but the one that fails after a write, in several batches', async () => {
    const { connection, commits } = open()
    const insert = connection.prepare('INSERT INTO row (name) VALUES (?)')
    const write = (n: number) =>
      commits.run(async () => {
        insert.run([`row ${n}`])
        if (n === 70) throw new Error('no')
      }, n % 3)
    const results = await Promise.allSettled(Array.from({ length: 200 }, (_, n) => write(n)))
    expect(results.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []))).toEqual([70])
    expect(connection.prepare('SELECT count(*) AS n FROM row').all([])).toEqual([{ n: 199 }])
  })

  test('are refused together if no transaction can begin', async () => {
    const { connection } = open()
    const commits = createGroupCommit({ ...connection, writes: 0, inTransaction: false, exec: refuse })
    const results = await Promise.allSettled([1, 2, 2].map((org) => commits.run(async () => org, org)))
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    await commits.idle()
    expect(commits.failures()).toBe(1)
  })
})
